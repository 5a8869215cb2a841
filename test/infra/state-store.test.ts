import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  countQuery,
  expiredQuery,
  pendingQuery,
  unsentQuery,
  withoutDeadlineQuery,
} from '../../functions/azure/state-queries.js';
import { timestampSchema } from '../../functions/contracts/timestamp.js';
import { projectRoot } from './support/bicep.js';
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
    expect(at(properties, 'consistencyPolicy.defaultConsistencyLevel')).toBe('Strong');
    expect(at(resourcesOf('default', `${account}/sqlDatabases/containers`)[0], 'properties.options')).toEqual({});
  });

  it('is autoscaled on request, with a second region to fail over to', () => {
    const properties = resourceOf('production', account).properties;
    expect(at(properties, 'capabilities')).toEqual([]);
    expect(at(properties, 'locations')).toEqual([
      { locationName: 'westeurope', failoverPriority: 0, isZoneRedundant: true },
      { locationName: 'northeurope', failoverPriority: 1, isZoneRedundant: true },
    ]);
    expect(at(properties, 'consistencyPolicy.defaultConsistencyLevel')).toBe('BoundedStaleness');
    const container = resourcesOf('production', `${account}/sqlDatabases/containers`)[0];
    expect(at(container, 'properties.options.autoscaleSettings.maxThroughput')).toBe(4000);
  });
});

describe('the indexes of the state records', () => {
  const time = timestampSchema.parse('2026-01-01T00:00:00.000Z');
  const queries = [
    countQuery('Pending'),
    pendingQuery({ state: 'Pending', notBefore: time, pageSize: 1 }),
    pendingQuery({ state: 'Pending', priority: 'high', notBefore: time, pageSize: 1 }),
    expiredQuery({ state: 'Processing', completeBefore: time, completeFrom: time, pageSize: 1 }),
    withoutDeadlineQuery('Processing', time),
    unsentQuery(['Error'], { since: time, from: time, pageSize: 1 }),
  ].map(({ query }) => query);
  const container = resourcesOf('default', `${account}/sqlDatabases/containers`).find((item) =>
    item.name.endsWith('/order-state'),
  );
  const policy = at(container, 'properties.resource.indexingPolicy') as {
    includedPaths: { path: string }[];
    compositeIndexes: { path: string; order: string }[][];
  };

  it.each(queries)('cover every property it filters by: %s', (query) => {
    const included = policy.includedPaths.map(({ path }) => path);
    for (const [, property] of query.matchAll(/\bc\.(\w+)/g)) expect(included).toContain(`/${String(property)}/?`);
  });

  it.each(queries.filter((query) => /ORDER BY .+,/.test(query)))(
    'have a composite one for an order by several properties, without which the service refuses it: %s',
    (query) => {
      const order = (query.split('ORDER BY ')[1] ?? '').split(', ').map((property) => property.replace('c.', '/'));
      const composites = policy.compositeIndexes.map((index) => index.map(({ path }) => path));
      expect(composites).toContainEqual(order);
    },
  );
});

describe('the rights that the topology gives on a container', () => {
  const folder = join(projectRoot, 'functions', 'azure');
  const operations: Readonly<Record<string, RegExp>> = {
    create: /\.items\.create[<(]/,
    read: /\.read(?:<[^>]*>)?\(\)/,
    replace: /\.replace\(\w*[rR]ecord|\.item\([^)]*\)\s*\.replace\(/,
    upsert: /\.items\.upsert[<(]/,
    delete: /\.item\([^)]*\)\s*\.delete\(\)/,
    query: /\.items\.(?:query|readAll)/,
  };
  const sources = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));

  /** The text of a store with that of the files beside it that it calls. */
  const withCalled = (source: string): string => {
    const called = source.matchAll(/from '\.\/([\w-]+)\.js'/g);
    const files = [...called].map(([, name]) => readFileSync(join(folder, `${name}.ts`), 'utf8'));
    return [source, ...files.map(withCalled)].join('\n');
  };

  it.each(topology.cosmosDb.containers)('are what the code does with it, no more and no less: $name', (container) => {
    const source = sources.find(
      (text) =>
        text.includes(`.container('${container.name}')`) || text.includes(`containerName = '${container.name}'`),
    );
    const used = Object.keys(operations).filter((name) => operations[name]?.test(withCalled(source ?? '')));
    expect(used).toEqual(Object.keys(operations).filter((name) => container.access.includes(name)));
  });
});
