// After deployment: makes Azure notice the functions, checks that all of them are there, and sends one order through.
//
// D1  Functions of a Flex Consumption app can stay invisible, and timers dead, until the host is synchronised.
// D2  The smoke order is sent only to demo remote services: a real one would charge somebody.

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createResourceManager, environmentValue, repeatUntil, resourcePath, runHook, secondsSetting } from './azd.mjs';
import { smokeOrder } from './smoke-order.mjs';

const apiVersion = 'api-version=2024-11-01';

await runHook(async () => {
  await synchroniseUntilComplete();
  const reason = reasonToSkipSmokeOrder();
  if (reason === undefined) await smokeOrder();
  else console.log(`No smoke order: ${reason}`);
});

// D1
async function synchroniseUntilComplete() {
  const expected = JSON.parse(
    readFileSync(resolve(import.meta.dirname, '..', '..', '.local', 'functions.json'), 'utf8'),
  );
  const app = resourcePath('Microsoft.Web/sites', environmentValue('SERVICE_APP_NAME'));
  const manager = await createResourceManager();
  let missing = expected;
  await repeatUntil(
    async () => {
      await manager.post(`${app}/host/default/sync?${apiVersion}`);
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
