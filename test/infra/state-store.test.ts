import { describe, expect, it } from 'vitest';
import { at, deployments, resourceOf, resourcesOf, topology } from './support/resources.js';

const account = 'Microsoft.DocumentDB/databaseAccounts';

describe.each(deployments)('the state store of the %s deployment', (deployment) => {
  it('has one write region: conditional writes are checked only where they arrive (T11)', () => {
    expect(at(resourceOf(deployment, account), 'properties.enableMultipleWriteLocations')).toBe(false);
  });

  it('can be restored to any moment of the last days (R48)', () => {
    expect(at(resourceOf(deployment, account), 'properties.backupPolicy.type')).toBe('Continuous');
  });

  it('has the containers of the topology with their keys, indexes and time to live', () => {
    const expected = topology.cosmosDb.containers.filter((item) => deployment === 'default' || item.demo !== true);
    const deployed = resourcesOf(deployment, `${account}/sqlDatabases/containers`);
    expect(deployed.map((item) => item.name.split('/')[2])).toEqual(expected.map((item) => item.name));
    expected.forEach((container, index) => {
      const resource = at(deployed[index], 'properties.resource');
      expect(resource).toMatchObject({
        id: container.name,
        partitionKey: { paths: [container.partitionKey], kind: 'Hash' },
        indexingPolicy: container.indexingPolicy,
      });
      expect(at(resource, 'defaultTtl'), container.name).toBe(container.defaultTtl);
    });
  });

  it('has its containers and data roles under whichever name it is given, that of a restored account too', () => {
    const { name } = resourceOf(deployment, account);
    expect(name).toMatch(deployment === 'production' ? /^cosmos-restored$/ : /^cosmos-[a-z0-9]{13}$/);
    for (const part of ['sqlDatabases/containers', 'sqlRoleDefinitions', 'sqlRoleAssignments']) {
      for (const { id } of resourcesOf(deployment, `${account}/${part}`)) expect(id).toContain(`/${name}`);
    }
  });

  it('sends its diagnostics to the workspace', () => {
    const settings = resourcesOf(deployment, 'Microsoft.Insights/diagnosticSettings');
    expect(settings.map((item) => item.id.includes('databaseAccounts'))).toContain(true);
    expect(settings.map((item) => item.id.includes('Microsoft.ServiceBus'))).toContain(true);
  });
});

describe('the capacity of the state store', () => {
  it('is serverless by default, in one region, without zones', () => {
    const properties = resourceOf('default', account).properties;
    expect(at(properties, 'capabilities')).toEqual([{ name: 'EnableServerless' }]);
    expect(at(properties, 'locations')).toEqual([
      { locationName: 'westeurope', failoverPriority: 0, isZoneRedundant: false },
    ]);
    expect(at(resourcesOf('default', `${account}/sqlDatabases/containers`)[0], 'properties.options')).toEqual({});
  });

  it('is autoscaled on request, with a second region to fail over to', () => {
    const properties = resourceOf('production', account).properties;
    expect(at(properties, 'capabilities')).toEqual([]);
    expect(at(properties, 'locations')).toEqual([
      { locationName: 'westeurope', failoverPriority: 0, isZoneRedundant: true },
      { locationName: 'northeurope', failoverPriority: 1, isZoneRedundant: true },
    ]);
    const container = resourcesOf('production', `${account}/sqlDatabases/containers`)[0];
    expect(at(container, 'properties.options.autoscaleSettings.maxThroughput')).toBe(4000);
  });
});
