// After deployment: makes Azure notice the functions, asks the app whether it can work, checks that all of its functions are there,
// and sends one order through.
//
// D1  Functions of a Flex Consumption app can stay invisible, and timers dead, until the host is synchronised.
// D2  The smoke order is sent only to demo remote services: a real one would charge somebody.
// D3  An app with a wrong setting has one function, `health`, which names the setting; Azure itself reports such an app as running.

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  createResourceManager,
  environmentValue,
  HookError,
  repeatUntil,
  resourcePath,
  runHook,
  secondsSetting,
} from './azd.mjs';
import { askHealth } from './health.mjs';
import { smokeOrder } from './smoke-order.mjs';

const apiVersion = 'api-version=2024-11-01';

await runHook(async () => {
  const manager = await createResourceManager();
  const app = resourcePath('Microsoft.Web/sites', environmentValue('SERVICE_APP_NAME'));
  await requireHealth(manager, app);
  await synchroniseUntilComplete(manager, app);
  const reason = reasonToSkipSmokeOrder();
  if (reason === undefined) await smokeOrder();
  else console.log(`No smoke order: ${reason}`);
});

// D3. Rights that were granted a moment ago may be missing for a while; a wrong setting does not mend itself.
async function requireHealth(manager, app) {
  let report;
  await repeatUntil(
    async () => {
      await synchronise(manager, app);
      report = await askHealth(manager, `${app}/host/default/listkeys?${apiVersion}`);
      if (report.status === 'misconfigured') throw new HookError(explainHealth(report));
      return report.status === 'healthy' ? true : undefined;
    },
    {
      seconds: secondsSetting('HEALTH_SECONDS', 300),
      pauseSeconds: secondsSetting('HEALTH_PAUSE_SECONDS', 10),
      message: () => explainHealth(report),
    },
  );
  console.log('The app is healthy.');
}

function explainHealth({ status, problems }) {
  return [`The app is ${status}:`, ...problems, 'See docs/deploy.md, "When something fails".'].join('\n  ');
}

async function synchronise(manager, app) {
  await manager.post(`${app}/host/default/sync?${apiVersion}`);
}

// D1
async function synchroniseUntilComplete(manager, app) {
  const expected = JSON.parse(
    readFileSync(resolve(import.meta.dirname, '..', '..', '.local', 'functions.json'), 'utf8'),
  );
  let missing = expected;
  await repeatUntil(
    async () => {
      await synchronise(manager, app);
      const { value } = await manager.get(`${app}/functions?${apiVersion}`);
      const deployed = new Set(value.map(({ name }) => name.split('/').at(-1)));
      missing = expected.filter((name) => !deployed.has(name));
      return missing.length === 0 ? true : undefined;
    },
    {
      seconds: secondsSetting('FUNCTION_LIST_SECONDS', 300),
      pauseSeconds: secondsSetting('FUNCTION_LIST_PAUSE_SECONDS', 10),
      message: () =>
        `Azure does not list these functions: ${missing.join(', ')}. Run "azd deploy" again; if that does not help, see ` +
        'docs/deploy.md, "When something fails".',
    },
  );
  console.log(`All ${expected.length} functions are there.`);
}

// D2
function reasonToSkipSmokeOrder() {
  if (process.env.SMOKE_ORDER === 'false') return 'SMOKE_ORDER=false.';
  if (process.env.DEMO_REMOTES_ENABLED !== 'true') return 'the agents call real remote services.';
  if (process.env.VNET_ENABLED === 'true') return 'Service Bus can be reached only from inside the virtual network.';
  if (!process.env.SMOKE_APPLICATION) return 'nobody was named to send it (AZURE_PRINCIPAL_ID).';
  return undefined;
}
