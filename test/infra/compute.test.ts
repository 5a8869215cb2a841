import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseConfig, settingsSchema } from '../../functions/config/config.js';
import { projectRoot } from './support/bicep.js';
import { appSettingsOf, at, deployments, resourceOf, resourcesOf } from './support/resources.js';
import type { Deployment } from './support/resources.js';

/** Settings that the host or a library reads; everything else must be in the schema. */
const hostSettings = [
  'APPLICATIONINSIGHTS_AUTHENTICATION_STRING',
  'APPLICATIONINSIGHTS_CONNECTION_STRING',
  'AzureWebJobsStorage__blobServiceUri',
  'AzureWebJobsStorage__clientId',
  'AzureWebJobsStorage__credential',
  'AzureWebJobsStorage__queueServiceUri',
  'AzureWebJobsStorage__tableServiceUri',
  'ServiceBusConnection__clientId',
  'ServiceBusConnection__credential',
];
const schedulerSettings = ['DURABLE_TASK_SCHEDULER_CONNECTION_STRING', 'TASKHUB_NAME'];
const laptopHostSettings = ['AzureWebJobsStorage', 'FUNCTIONS_WORKER_RUNTIME'];
const laptopOnly = ['ServiceBusConnection', 'COSMOS_KEY'];
const azureOnly = ['ServiceBusConnection__fullyQualifiedNamespace', 'AZURE_CLIENT_ID'];

const known = Object.keys(settingsSchema.shape);

function ownSettings(deployment: Deployment): readonly string[] {
  const others = [...hostSettings, ...schedulerSettings];
  return Object.keys(appSettingsOf(deployment)).filter((name) => !others.includes(name) && !name.endsWith('.Disabled'));
}

describe('the settings of the app', () => {
  it.each(deployments)('in the %s deployment are exactly those of the schema that Azure needs', (deployment) => {
    const advice = 'put a new setting into infra/app-settings.json, then run "node infra/checks/golden.mjs overwrite"';
    expect([...ownSettings(deployment)].sort(), advice).toEqual(
      known.filter((name) => !laptopOnly.includes(name)).sort(),
    );
  });

  it('in local.settings.sample.json are exactly those of the schema that a laptop needs', () => {
    const sample = JSON.parse(readFileSync(join(projectRoot, 'local.settings.sample.json'), 'utf8')) as {
      Values: Record<string, string>;
    };
    const own = Object.keys(sample.Values).filter((name) => !laptopHostSettings.includes(name));
    expect(own.sort()).toEqual(known.filter((name) => !azureOnly.includes(name)).sort());
  });

  it.each(deployments)('in the %s deployment let the app start, retries within their bound included', (deployment) => {
    // What only Azure knows is an expression in the prediction.
    const answers: Readonly<Record<string, string>> = {
      AZURE_CLIENT_ID: '55555555-5555-5555-5555-555555555555',
      ServiceBusConnection__fullyQualifiedNamespace: 'any.servicebus.windows.net',
    };
    const known = Object.entries(appSettingsOf(deployment)).map(([name, value]): [string, string] =>
      value.startsWith('[') ? [name, answers[name] ?? 'https://any.example/'] : [name, value],
    );
    expect(() => {
      parseConfig(Object.fromEntries(known));
    }).not.toThrow();
  });

  it('give a step and a claim more time than a cold start takes (C95)', () => {
    const coldStartMs = 120_000;
    const settings = appSettingsOf('default');
    for (const name of ['STEP_DEADLINE_MS', 'CLAIM_LEASE_MS']) {
      expect(Number(settings[name]), name).toBeGreaterThan(2 * coldStartMs);
    }
  });

  it('can be overridden by name', () => {
    expect(appSettingsOf('default')['MAX_FAILURES']).toBe('3');
    expect(appSettingsOf('production')['MAX_FAILURES']).toBe('5');
  });

  it('name the identity for every connection, all three parts of it (C84, C85, C86)', () => {
    const settings = appSettingsOf('default');
    expect(settings['ServiceBusConnection__credential']).toBe('managedidentity');
    expect(settings['AzureWebJobsStorage__credential']).toBe('managedidentity');
    for (const name of ['ServiceBusConnection__clientId', 'AzureWebJobsStorage__clientId', 'AZURE_CLIENT_ID']) {
      expect(settings[name], name).toMatch(/userAssignedIdentities\/id-app-.*\.clientId\]$/);
    }
    expect(settings['ServiceBusConnection__fullyQualifiedNamespace']).toContain('serviceBusEndpoint');
  });

  it('leave out what Flex Consumption refuses (C87)', () => {
    for (const deployment of deployments) {
      const refused = /^(FUNCTIONS_|WEBSITE_RUN_FROM|WEBSITE_CONTENT|SCM_DO_BUILD|AzureFunctionsJobHost)/;
      for (const name of Object.keys(appSettingsOf(deployment))) expect(name).not.toMatch(refused);
    }
  });
});

describe('the function app', () => {
  it.each(deployments)('of the %s deployment runs on Flex Consumption with a checked runtime (C87)', (deployment) => {
    expect(resourceOf(deployment, 'Microsoft.Web/serverfarms')['sku']).toEqual({
      name: 'FC1',
      tier: 'FlexConsumption',
    });
    const config = at(resourceOf(deployment, 'Microsoft.Web/sites'), 'properties.functionAppConfig');
    expect(at(config, 'runtime')).toEqual({ name: 'node', version: '24' });
    expect(at(config, 'deployment.storage.authentication.type')).toBe('UserAssignedIdentity');
  });

  it('gets its package from a container that the same deployment creates', () => {
    const container = resourceOf('default', 'Microsoft.Storage/storageAccounts/blobServices/containers').name;
    const app = resourceOf('default', 'Microsoft.Web/sites');
    const address = at(app, 'properties.functionAppConfig.deployment.storage.value');
    expect(address).toContain(container.split('/').at(-1));
  });

  it('is the only resource that azd may take for the service `app`', () => {
    const azureYaml = readFileSync(join(projectRoot, 'azure.yaml'), 'utf8');
    expect(azureYaml).toMatch(/^services:\n {2}app:$/m);
    const tagged = resourcesOf('default', 'Microsoft.Web/sites').filter(
      (item) => at(item, 'tags.azd-service-name') === 'app',
    );
    expect(tagged).toHaveLength(1);
  });

  it('keeps no instance warm unless asked to', () => {
    const warm = 'properties.functionAppConfig.scaleAndConcurrency.alwaysReady';
    expect(at(resourceOf('default', 'Microsoft.Web/sites'), warm)).toEqual([]);
    expect(at(resourceOf('production', 'Microsoft.Web/sites'), warm)).toHaveLength(2);
  });
});

describe('what multiplies work behind the back of the pattern', () => {
  it('is off: no host retry policy (C99), no run at start-up (C101)', () => {
    const files = readdirSync(join(projectRoot, 'functions'), { recursive: true, encoding: 'utf8' });
    const code = files.filter((file) => file.endsWith('.function.ts')).map((file) => join('functions', file));
    for (const file of [...code, 'host.json', 'host.dts.json']) {
      const text = readFileSync(join(projectRoot, file), 'utf8');
      expect(text, file).not.toMatch(/\bretry"?:|runOnStartup"?: true/);
    }
  });
});

describe('zone redundancy', () => {
  it('is off by default, because not every region has the capacity (C92), and on everywhere on request', () => {
    const skuOf = (deployment: Deployment): unknown =>
      at(resourceOf(deployment, 'Microsoft.Storage/storageAccounts'), 'sku.name');
    const zonesOf = (deployment: Deployment): unknown =>
      at(resourceOf(deployment, 'Microsoft.Web/serverfarms'), 'properties.zoneRedundant');
    expect([skuOf('default'), zonesOf('default')]).toEqual(['Standard_LRS', false]);
    expect([skuOf('production'), zonesOf('production')]).toEqual(['Standard_ZRS', true]);
  });
});

describe('the Durable back end', () => {
  it('is the storage account by default, with blobs, queues and tables', () => {
    const roles = resourcesOf('default', 'Microsoft.Authorization/roleAssignments').filter((item) =>
      item.id.includes('Microsoft.Storage'),
    );
    expect(roles).toHaveLength(3);
    expect(Object.keys(appSettingsOf('default'))).not.toContain('TASKHUB_NAME');
  });

  it('is Durable Task Scheduler on request; the storage account then holds only blobs', () => {
    const roles = resourcesOf('production', 'Microsoft.Authorization/roleAssignments').filter((item) =>
      item.id.includes('Microsoft.Storage'),
    );
    expect(roles).toHaveLength(1);
    expect(resourceOf('production', 'Microsoft.DurableTask/schedulers')).toHaveProperty('properties.sku', {
      name: 'Dedicated',
      capacity: 3,
    });
    expect(appSettingsOf('production')['DURABLE_TASK_SCHEDULER_CONNECTION_STRING']).toContain(
      'Authentication=ManagedIdentity',
    );
  });
});
