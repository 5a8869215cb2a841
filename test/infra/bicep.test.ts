import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { bicep, bicepIsMissing, needsBicep, predict, projectRoot, runScript } from './support/bicep.js';

describe.skipIf(bicepIsMissing)(needsBicep('the Bicep files'), () => {
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

  it('depend on nothing that differs between two deployments, and read no key', () => {
    const template = bicep('build', 'infra/main.bicep', '--stdout').output;
    expect(template).toContain('"$schema"');
    for (const call of ['utcNow(', 'newGuid(', 'listKeys(', 'listAccountSas(', 'listSecrets(', 'AccountKey=']) {
      expect(template.includes(call), call).toBe(false);
    }
  });

  it('take a restored account into use with everything that a restore does not bring', () => {
    expect(predict('restored', ["param cosmosAccountName = 'cosmos-restored'"]).status).toBe(0);
    const prediction = readFileSync(join(projectRoot, '.local', 'infra-tests', 'restored.snapshot.json'), 'utf8');
    for (const part of ['sqlDatabases/order-processing/containers/order-state', 'sqlRoleDefinitions/']) {
      expect(prediction.includes(`/databaseAccounts/cosmos-restored/${part}`), part).toBe(true);
    }
  });

  it('take every parameter from the azd environment', () => {
    const declared = bicep('generate-params', 'infra/main.bicep', '--include-params', 'all', '--stdout').output;
    const offered = readFileSync(join(projectRoot, 'infra', 'main.parameters.json'), 'utf8');
    expect(parameterNames(offered)).toEqual(parameterNames(declared));
  });
});

describe.skipIf(bicepIsMissing)(
  needsBicep('a deployment that cannot work is refused before anything is created'),
  () => {
    let refusal = '';
    beforeAll(() => {
      const result = predict('refused', [
        "param location = 'westus'",
        'param vnetEnabled = true',
        'param zoneRedundant = true',
        "param cosmosFailoverLocation = 'northeurope'",
        "param operatorApiClientId = '66666666-6666-6666-6666-666666666666'",
        'param cosmosMaxThroughput = 1500',
        'param budgetAmount = 100',
        'param demoRemotesEnabled = false',
        "param settingOverrides = ['MAX_FAILURE=5']",
        "param additionalApplications = [{ name: 'Shop' }, { name: 'a/b' }, { name: '-a' }, { name: 'pos' }, { name: 'pos' }]",
        "param externalAgents = [{ name: 'billing', principalId: '44444444-4444-4444-4444-444444444444', principalType: 'User' }]",
      ]);
      expect(result.status).not.toBe(0);
      refusal = result.errors;
    });

    it.each([
      ['private endpoints on Standard', 'VNET_ENABLED=true needs SERVICE_BUS_SKU=Premium'],
      ['zones where the region has none', 'does not work in westus: the region has no availability zones'],
      ['a second region of a serverless account', 'COSMOS_FAILOVER_LOCATION needs COSMOS_CAPACITY_MODE=Autoscale'],
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
    ])('the one message names %s', (_, message) => {
      expect(refusal).toContain(message);
    });

    it.each([
      ['a region without Flex Consumption', ["param location = 'moonbase'"], "'moonbase'"],
      [
        'a long name',
        [`param additionalApplications = [{ name: '${'a'.repeat(41)}' }]`],
        'maximum allowable length is 40',
      ],
      [
        'the first region as the second one',
        ["param cosmosFailoverLocation = 'westeurope'", "param cosmosCapacityMode = 'Autoscale'"],
        'COSMOS_FAILOVER_LOCATION must differ from AZURE_LOCATION',
      ],
    ])('%s is refused', (title, values, message) => {
      const result = predict(title.replaceAll(/\W+/g, '-'), values);
      expect(result.status).not.toBe(0);
      expect(result.errors).toContain(message);
    });
  },
);

function parameterNames(file: string): readonly string[] {
  return Object.keys((JSON.parse(file) as { parameters: object }).parameters).sort();
}
