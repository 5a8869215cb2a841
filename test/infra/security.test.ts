import { describe, expect, it } from 'vitest';
import {
  appSettingsOf,
  at,
  deployments,
  predictedResources,
  resourceOf,
  resourcesOf,
  topology,
} from './support/resources.js';
import type { Deployment, Resource } from './support/resources.js';

/** Built-in roles by the ids that Microsoft documents; the second table beside infra/modules/types.bicep. */
const roleNames: Readonly<Record<string, string>> = {
  'b7e6dc6d-f1e8-4753-8033-0f276bb0955b': 'Storage Blob Data Owner',
  '974c5e8b-45b9-4653-ba55-5f855dd0fb88': 'Storage Queue Data Contributor',
  '0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3': 'Storage Table Data Contributor',
  '4f6d3b9b-027b-4f4c-9142-0e5a2a2247e0': 'Service Bus Data Receiver',
  '69a216fc-b8fb-44d8-bc22-1f3c2cd27a39': 'Service Bus Data Sender',
  '3913510d-42f4-4e42-8a64-420c390055eb': 'Monitoring Metrics Publisher',
  '43d0d8ad-25c7-4714-9337-8ba259a9fe05': 'Monitoring Reader',
  '0ad04412-c4d5-4796-b79c-f76d14c8d402': 'Durable Task Data Contributor',
};

const deployer = '11111111-1111-1111-1111-111111111111';
const operators = '22222222-2222-2222-2222-222222222222';
const webShop = '33333333-3333-3333-3333-333333333333';
const paymentAgent = '44444444-4444-4444-4444-444444444444';

function assignments(deployment: Deployment): readonly Resource[] {
  return resourcesOf(deployment, 'Microsoft.Authorization/roleAssignments');
}

/** "role @ kind/name" of everything that a principal (or the identity whose name begins so) is granted. */
function grantsOf(deployment: Deployment, principal: string): readonly string[] {
  return assignments(deployment)
    .filter((item) => String(at(item, 'properties.principalId')).includes(principal))
    .map((item) => {
      const role = String(at(item, 'properties.roleDefinitionId')).split('/').at(-1) ?? '';
      const scope =
        /providers\/(?!Microsoft\.Authorization)[^']*?\/([A-Za-z]+)\/([^/']+)(?:\/providers\/Microsoft\.Authorization|')/;
      const [, kind, name] = scope.exec(item.id) ?? [];
      const where = kind === undefined ? 'resource group' : `${kind}/${String(name)}`;
      return `${roleNames[role] ?? 'custom role'} @ ${where}`;
    })
    .sort();
}

describe.each(deployments)('access in the %s deployment', (deployment) => {
  it('needs no key: every service refuses local authentication (C104)', () => {
    expect(at(resourceOf(deployment, 'Microsoft.ServiceBus/namespaces'), 'properties.disableLocalAuth')).toBe(true);
    const account = resourceOf(deployment, 'Microsoft.DocumentDB/databaseAccounts');
    expect(at(account, 'properties.disableLocalAuth')).toBe(true);
    expect(at(account, 'properties.disableKeyBasedMetadataWriteAccess')).toBe(true);
    const storage = resourceOf(deployment, 'Microsoft.Storage/storageAccounts');
    expect(at(storage, 'properties.allowSharedKeyAccess')).toBe(false);
    expect(at(storage, 'properties.allowBlobPublicAccess')).toBe(false);
    expect(at(resourceOf(deployment, 'Microsoft.Insights/components'), 'properties.DisableLocalAuth')).toBe(true);
    const workspace = resourceOf(deployment, 'Microsoft.OperationalInsights/workspaces');
    expect(at(workspace, 'properties.features.disableLocalAuth')).toBe(true);
    for (const policy of resourcesOf(deployment, 'Microsoft.Web/sites/basicPublishingCredentialsPolicies')) {
      expect(at(policy, 'properties.allow')).toBe(false);
    }
  });

  it('speaks TLS 1.2 or newer everywhere', () => {
    expect(at(resourceOf(deployment, 'Microsoft.ServiceBus/namespaces'), 'properties.minimumTlsVersion')).toBe('1.2');
    const account = resourceOf(deployment, 'Microsoft.DocumentDB/databaseAccounts');
    expect(at(account, 'properties.minimalTlsVersion')).toBe('Tls12');
    const storage = resourceOf(deployment, 'Microsoft.Storage/storageAccounts');
    expect(at(storage, 'properties.minimumTlsVersion')).toBe('TLS1_2');
    const app = resourceOf(deployment, 'Microsoft.Web/sites');
    expect(at(app, 'properties.siteConfig.minTlsVersion')).toBe('1.2');
    expect(at(app, 'properties.httpsOnly')).toBe(true);
  });

  it('names each role assignment after its scope, principal and role, and types its principal (C89)', () => {
    for (const item of assignments(deployment)) {
      expect(['User', 'Group', 'ServicePrincipal'], item.id).toContain(at(item, 'properties.principalType'));
      const principal = String(at(item, 'properties.principalId'));
      const isKnownNow = !principal.startsWith('[');
      const expected = isKnownNow ? /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/ : /^\[guid\('.*reference\(.*'\)\]$/;
      expect(item.name).toMatch(expected);
    }
  });

  it('grants only known roles, among them no Data Owner of the namespace', () => {
    const customRole = resourceOf(deployment, 'Microsoft.Authorization/roleDefinitions').id.split('/').at(-1) ?? '';
    for (const item of assignments(deployment)) {
      const role = String(at(item, 'properties.roleDefinitionId'));
      const isKnown = Object.keys(roleNames).some((id) => role.includes(id)) || role.includes(customRole);
      expect(isKnown, role).toBe(true);
    }
  });

  it('lets the scale controller read message counts and nothing else', () => {
    const role = resourceOf(deployment, 'Microsoft.Authorization/roleDefinitions');
    expect(at(role, 'properties.permissions')).toEqual([{ actions: ['Microsoft.ServiceBus/namespaces/*/read'] }]);
    expect(grantsOf(deployment, 'id-app-').filter((grant) => grant.startsWith('custom role'))).toEqual([
      expect.stringMatching(/^custom role @ namespaces\//),
    ]);
  });

  it('scopes every right to send or receive to one queue', () => {
    const messaging = assignments(deployment).filter((item) =>
      /4f6d3b9b-027b|69a216fc-b8fb/.test(String(at(item, 'properties.roleDefinitionId'))),
    );
    expect(messaging.length).toBeGreaterThan(20);
    for (const item of messaging) expect(item.id).toMatch(/\/namespaces\/[^/]+\/queues\//);
  });

  it('lets the app change items only in the way each container needs, and never a database or container (C90, C91)', () => {
    const roles = resourcesOf(deployment, 'Microsoft.DocumentDB/databaseAccounts/sqlRoleDefinitions');
    const actions = (name: string): readonly string[] => {
      const role = roles.find((item) => String(at(item, 'properties.roleName')).endsWith(` ${name}`));
      return (at(role, 'properties.permissions.0.dataActions') as string[]).map((action) =>
        action.replace('Microsoft.DocumentDB/databaseAccounts/', '').replace('sqlDatabases/containers/', ''),
      );
    };
    expect(actions('orders')).toEqual(['readMetadata', 'items/create', 'items/read']);
    const query = ['executeQuery', 'readChangeFeed'];
    expect(actions('order-state')).toEqual(['readMetadata', 'items/create', 'items/read', 'items/replace', ...query]);
    expect(actions('control')).toEqual([
      'readMetadata',
      ...['create', 'read', 'replace', 'upsert'].map((verb) => `items/${verb}`),
    ]);
    expect(JSON.stringify(roles)).not.toMatch(/\*|throughput|items\/delete/);
  });

  it('gives each data role on its own container', () => {
    const scopes = resourcesOf(deployment, 'Microsoft.DocumentDB/databaseAccounts/sqlRoleAssignments').map((item) =>
      String(at(item, 'properties.scope')).split('/dbs/').slice(1).join(''),
    );
    expect(scopes).toContain(`${topology.cosmosDb.database}/colls/orders`);
    expect(scopes).toContain(`${topology.cosmosDb.database}/colls/order-state`);
  });

  it('puts no secret into an app setting', () => {
    const settings = appSettingsOf(deployment);
    expect(JSON.stringify(settings)).not.toMatch(/AccountKey|SharedAccessKey|listKeys|COSMOS_KEY/);
    expect(settings).not.toHaveProperty('AzureWebJobsStorage');
    expect(settings).not.toHaveProperty('ServiceBusConnection');
  });
});

describe('who may use which queue', () => {
  it('an application receives its own statuses and sends orders, nothing else', () => {
    for (const { name } of topology.applications) {
      expect(grantsOf('default', `id-application-${name}-`)).toEqual([
        `Service Bus Data Receiver @ queues/status-${name}`,
        'Service Bus Data Sender @ queues/orders',
      ]);
    }
    expect(grantsOf('production', webShop)).toEqual([
      'Service Bus Data Receiver @ queues/status-web-shop',
      'Service Bus Data Sender @ queues/orders',
    ]);
  });

  it('no application can take the identity of the app by its name', () => {
    const names = resourcesOf('default', 'Microsoft.ManagedIdentity/userAssignedIdentities').map(({ name }) => name);
    const [own, ...others] = names.sort((one, other) => one.length - other.length);
    expect(own).toMatch(/^id-app-[a-z0-9]{13}$/);
    for (const name of others) expect(name).toMatch(/^id-application-.+-[a-z0-9]{13}$/);
  });

  it('only the app of the named application may receive from a status queue, beside a deployer', () => {
    const receivers = assignments('production').filter(
      (item) =>
        item.id.includes('/queues/status-') && String(at(item, 'properties.roleDefinitionId')).includes('4f6d3b9b'),
    );
    expect(receivers.map((item) => String(at(item, 'properties.principalId')).includes('id-app-'))).not.toContain(true);
  });

  it('an agent in its own app serves its own queue pair and rejects to its own dead-letter queue', () => {
    expect(grantsOf('production', paymentAgent)).toEqual([
      'Service Bus Data Receiver @ queues/payment-requests',
      'Service Bus Data Sender @ queues/payment-replies',
      'Service Bus Data Sender @ queues/payment-requests-dead-letter',
    ]);
  });

  it('and the app can then neither read that agent its requests nor reply in its place', () => {
    const app = grantsOf('production', 'id-app-');
    expect(app).not.toContain('Service Bus Data Receiver @ queues/payment-requests');
    expect(app).not.toContain('Service Bus Data Sender @ queues/payment-replies');
    expect(app).toContain('Service Bus Data Sender @ queues/payment-requests');
    const settings = appSettingsOf('production');
    expect(settings).toHaveProperty(['AzureWebJobs.payment-agent.Disabled'], 'true');
  });

  it('the deployer may act as the first application, for the smoke order', () => {
    for (const deployment of deployments) {
      expect(grantsOf(deployment, deployer)).toEqual([
        'Service Bus Data Receiver @ queues/status-web-shop',
        'Service Bus Data Sender @ queues/orders',
      ]);
    }
  });

  it('the operators read dead letters, telemetry, records and the scheduler dashboard, and send nothing', () => {
    const grants = grantsOf('production', operators);
    expect(grants.filter((grant) => grant.includes('Sender'))).toEqual([]);
    expect(grants.filter((grant) => grant.includes('Receiver')).every((grant) => grant.endsWith('-dead-letter'))).toBe(
      true,
    );
    expect(grants).toContain('Monitoring Reader @ resource group');
    expect(grants).toContainEqual(expect.stringMatching(/^Durable Task Data Contributor @ taskHubs\//));
    const readers = predictedResources('production').filter(
      (item) => at(item, 'properties.principalId') === operators && item.type.endsWith('sqlRoleAssignments'),
    );
    expect(readers.map((item) => at(item, 'properties.roleDefinitionId'))).toEqual([
      expect.stringMatching(/00000000-0000-0000-0000-000000000001$/),
    ]);
    expect(grantsOf('default', operators)).toEqual([]);
  });
});

describe('the operator API', () => {
  const guard = (deployment: Deployment): Resource | undefined =>
    resourcesOf(deployment, 'Microsoft.Web/sites/config').find((item) => item.name.endsWith('/authsettingsV2'));

  it('can be guarded by Entra: only tokens of the operators pass, and only health needs none, but a key', () => {
    const settings = guard('production');
    expect(at(settings, 'properties.globalValidation')).toEqual({
      requireAuthentication: true,
      unauthenticatedClientAction: 'Return401',
      excludedPaths: ['/api/health'],
    });
    const policy = 'properties.identityProviders.azureActiveDirectory.validation.defaultAuthorizationPolicy';
    expect(at(settings, policy)).toEqual({ allowedPrincipals: { groups: [operators] } });
  });

  it('is guarded by function keys alone unless asked for more', () => {
    expect(guard('default')).toBeUndefined();
  });
});

describe('the network of a deployment with VNET_ENABLED', () => {
  it('closes storage, Service Bus and Cosmos DB to the internet', () => {
    for (const type of [
      'Microsoft.Storage/storageAccounts',
      'Microsoft.ServiceBus/namespaces',
      'Microsoft.DocumentDB/databaseAccounts',
    ]) {
      expect(at(resourceOf('production', type), 'properties.publicNetworkAccess'), type).toBe('Disabled');
    }
  });

  it('gives every part of them that the app uses a private endpoint with a DNS entry', () => {
    const groups = resourcesOf('production', 'Microsoft.Network/privateEndpoints').map((item) =>
      at(item, 'properties.privateLinkServiceConnections.0.properties.groupIds.0'),
    );
    expect(groups.sort()).toEqual(['Sql', 'blob', 'namespace', 'queue', 'table']);
    expect(resourcesOf('production', 'Microsoft.Network/privateEndpoints/privateDnsZoneGroups')).toHaveLength(5);
    expect(resourcesOf('production', 'Microsoft.Network/privateDnsZones/virtualNetworkLinks')).toHaveLength(5);
  });

  it('delegates the subnet of the app to Flex Consumption', () => {
    const network = resourceOf('production', 'Microsoft.Network/virtualNetworks');
    expect(at(network, 'properties.subnets.0.properties.delegations.0.properties.serviceName')).toBe(
      'Microsoft.App/environments',
    );
    expect(at(resourceOf('production', 'Microsoft.Web/sites'), 'properties.virtualNetworkSubnetId')).toBeTruthy();
    expect(at(resourceOf('default', 'Microsoft.Web/sites'), 'properties.virtualNetworkSubnetId')).toBeFalsy();
  });
});
