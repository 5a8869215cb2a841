import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { bicep, needsBicep, predict, projectRoot, runScript } from './support/bicep.js';

const bicepIsMissing = bicep('--where').status === 127;

// Each run of the CLI costs seconds of processor time, more on a busy machine: as few as possible, and patience.
const timeout = 240_000;

describe.skipIf(bicepIsMissing)(needsBicep('the Bicep files', bicepIsMissing), { timeout }, () => {
  it('build and lint without a single finding under the strict rules', () => {
    const lint = bicep('lint', 'infra/main.bicep');
    expect(lint.output + lint.errors).toBe('');
    expect(lint.status).toBe(0);
  });

  it('predict exactly the kept snapshots, so a second deployment changes nothing', () => {
    const result = runScript('infra/checks/golden.mjs', ['validate']);
    expect(result.errors + result.output).toBe('');
    expect(result.status, 'after a deliberate change run "node infra/checks/golden.mjs overwrite"').toBe(0);
  });

  it('depend on nothing that differs between two deployments, read no key, and offer every parameter to azd', () => {
    const template = bicep('build', 'infra/main.bicep', '--stdout').output;
    for (const call of ['utcNow(', 'newGuid(', 'listKeys(', 'listAccountSas(', 'listSecrets(', 'AccountKey=']) {
      expect(template.includes(call), call).toBe(false);
    }
    const offered = readFileSync(join(projectRoot, 'infra', 'main.parameters.json'), 'utf8');
    expect(parameterNames(offered)).toEqual(parameterNames(template));
  });
});

describe.skipIf(bicepIsMissing)(needsBicep('a deployment that cannot work', bicepIsMissing), { timeout }, () => {
  let refusal = '';
  beforeAll(() => {
    const agent = "{ name: 'billing', principalId: '44444444-4444-4444-4444-444444444444', principalType: 'User' }";
    const names = ['Shop', 'a/b', '-a', 'pos', 'pos'].map((name) => `{ name: '${name}' }`);
    const result = predict('refused', [
      "param location = 'westus'",
      'param vnetEnabled = true',
      'param zoneRedundant = true',
      "param cosmosFailoverLocation = 'westus'",
      "param operatorApiClientId = '66666666-6666-6666-6666-666666666666'",
      'param cosmosMaxThroughput = 1500',
      'param budgetAmount = 100',
      'param demoRemotesEnabled = false',
      "param settingOverrides = ['MAX_FAILURE=5']",
      `param additionalApplications = [${names.join(', ')}]`,
      `param externalAgents = [${agent}]`,
    ]);
    expect(result.status).not.toBe(0);
    refusal = result.errors;
  }, timeout);

  it.each([
    ['private endpoints on Standard', 'VNET_ENABLED=true needs SERVICE_BUS_SKU=Premium'],
    ['zones where the region has none', 'does not work in westus: the region has no availability zones'],
    ['a second region of a serverless account', 'COSMOS_FAILOVER_LOCATION needs COSMOS_CAPACITY_MODE=Autoscale'],
    ['the first region as the second one', 'COSMOS_FAILOVER_LOCATION must differ from AZURE_LOCATION'],
    ['a guarded operator API that nobody may call', 'OPERATOR_API_CLIENT_ID needs OPERATOR_GROUP_ID'],
    ['throughput that the service does not know', 'must be a multiple of 1000'],
    ['a budget without its month', 'BUDGET_AMOUNT needs BUDGET_START_DATE'],
    ['real services without addresses', 'needs PAYMENT_URL, the address of the real service, in SETTING_OVERRIDES'],
    ['a setting that nobody reads', '"MAX_FAILURE=5" is not NAME=value with a name of app-settings.json'],
    ['capital letters in an application name', '"Shop" is no application name'],
    ['a slash in an application name', '"a/b" is no application name'],
    ['a leading hyphen in an application name', '"-a" is no application name'],
    ['an application twice', 'ADDITIONAL_APPLICATIONS names an application twice'],
    ['an agent without queues', 'topology.json has no queues billing-requests and billing-replies'],
  ])('is refused before anything is created, in one message with all other problems: %s', (_, message) => {
    expect(refusal).toContain(message);
  });

  it('is refused by its types already: a region without Flex Consumption, a name of 41 characters', () => {
    const result = predict('mistyped', [
      "param location = 'moonbase'",
      `param additionalApplications = [{ name: '${'a'.repeat(41)}' }]`,
    ]);
    expect(result.status).not.toBe(0);
    expect(result.errors).toContain("'moonbase'");
    expect(result.errors).toContain('maximum allowable length is 40');
  });
});

function parameterNames(file: string): readonly string[] {
  return Object.keys((JSON.parse(file) as { parameters: object }).parameters).sort();
}
