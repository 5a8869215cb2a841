// Before anything is created: refuses a topology that cannot be deployed and agents without remote services, and fixes the start
// of a budget once.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { topologyProblems } from '../checks/topology.mjs';
import { HookError, runHook, setEnvironmentValue } from './azd.mjs';

await runHook(async () => {
  const topology = readFileSync(join(import.meta.dirname, '..', 'topology.json'), 'utf8');
  const problems = topologyProblems(JSON.parse(topology));
  if (problems.length > 0) throw new HookError(['infra/topology.json:', ...problems].join('\n  '));

  // Simulated remote services answer anybody, so they are deployed only if somebody asks for them.
  const missing = process.env.DEMO_REMOTES_ENABLED === 'true' ? [] : missingAddresses();
  if (missing.length > 0) {
    throw new HookError(
      `Which remote services do the agents call? For real ones give ${missing.join(', ')} in SETTING_OVERRIDES. ` +
        'For simulated ones, in a demonstration only: azd env set DEMO_REMOTES_ENABLED true',
    );
  }

  // A budget keeps its start date for ever, so the date is chosen once and stored.
  const wantsBudget = Number(process.env.BUDGET_AMOUNT || 0) > 0;
  if (wantsBudget && !process.env.BUDGET_START_DATE) {
    const firstOfMonth = `${new Date().toISOString().slice(0, 7)}-01`;
    await setEnvironmentValue('BUDGET_START_DATE', firstOfMonth);
    console.log(`The budget starts on ${firstOfMonth}.`);
  }
});

function missingAddresses() {
  const services = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'remote-services.json'), 'utf8'));
  const overrides = JSON.parse(process.env.SETTING_OVERRIDES || '[]');
  return services
    .map((service) => `${service.toUpperCase()}_URL`)
    .filter((name) => !overrides.some((item) => item.startsWith(`${name}=`)));
}
