/** Databases, containers and the topology: what is accepted, and what the service would refuse. */
import { expect, it } from 'vitest';
import { InvalidTopologyError } from '../../local/cosmos-db/topology.js';
import { startCosmosDb } from '../../local/cosmos-db/index.js';
import { database, sendRaw, statusOf, topologyOf, withDirectory, withServer } from '../support/cosmos-db.js';

it('creates, lists and removes databases and containers, and keeps them', () =>
  withServer({}, async ({ client }) => {
    const { database: created } = await client.databases.createIfNotExists({ id: 'sample 中文' });
    const definition = { id: 'things', partitionKey: { paths: ['/kind'] }, defaultTtl: 100 };
    const { container: things } = await created.containers.createIfNotExists(definition);
    await created.containers.createIfNotExists(definition);
    await things.items.create({ id: 'a', kind: 'k' });
    expect((await things.item('a', 'k').read()).resource).toMatchObject({ id: 'a' });
    expect((await created.containers.readAll().fetchAll()).resources.map(({ id }) => id)).toEqual(['things']);
    expect((await client.databases.readAll().fetchAll()).resources).toHaveLength(2);
    expect(await statusOf(client.databases.create({ id: 'sample 中文' }))).toBe(409);
    await things.delete();
    await created.delete();
    expect(await statusOf(created.read())).toBe(404);
  }));

it('refuses container features that it does not have', () =>
  withServer({}, async ({ client }) => {
    const { containers } = client.database(database);
    const hierarchical = { id: 'h', partitionKey: { paths: ['/a', '/b'], kind: 'MultiHash', version: 2 } };
    await expect(containers.create(hierarchical as never)).rejects.toThrow(
      /hierarchical partition keys are not supported/,
    );
    const unique = { id: 'u', partitionKey: '/id', uniqueKeyPolicy: { uniqueKeys: [{ paths: ['/x'] }] } };
    await expect(containers.create(unique)).rejects.toThrow(/uniqueKeyPolicy is not supported/);
  }));

const letters = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'];

it.each<[unknown, RegExp]>([
  [{}, /cosmosDb is missing/],
  [{ cosmosDb: { containers: [] } }, /cosmosDb: database/],
  [topologyOf({ orders: { partitionKey: 'id' } }), /container orders: partitionKey/],
  [
    topologyOf({ orders: { partitionKey: { paths: ['/a', '/b'] } } }),
    /container orders: partitionKey has several paths/,
  ],
  [topologyOf({ orders: { defaultTtl: 0 } }), /container orders: defaultTtl/],
  [
    topologyOf({ orders: { indexingPolicy: { indexingMode: 'none' } } }),
    /container orders: indexingPolicy.indexingMode/,
  ],
  [
    topologyOf({ orders: { indexingPolicy: { includedPaths: [{ path: 'x' }] } } }),
    /container orders: indexingPolicy.includedPaths/,
  ],
  [
    topologyOf({ orders: { indexingPolicy: { compositeIndexes: [[{ path: '/a' }]] } } }),
    /container orders: indexingPolicy.compositeIndexes/,
  ],
  ...['/id ds', '/id/', '//id', '/id/?', '/*', '/', '/""', 'id'].map((partitionKey): [unknown, RegExp] => [
    topologyOf({ orders: { partitionKey } }),
    /container orders: partitionKey is no path.*not contain a trailing slash or wildcard character/,
  ]),
  [topologyOf({ orders: { indexingPolicy: { automatic: false } } }), /automatic other than true is not supported/],
  [
    topologyOf({ orders: { indexingPolicy: { includedPaths: [{ path: '/a/?' }] } } }),
    /mandatory indexing path "\/" is not provided in any of the path type sets/,
  ],
  [
    topologyOf({ orders: { indexingPolicy: { includedPaths: [{ path: '/*' }], excludedPaths: [{ path: '/' }] } } }),
    /names the path \/\* twice/,
  ],
  [
    topologyOf({
      orders: { indexingPolicy: { compositeIndexes: [letters.map((letter) => ({ path: `/${letter}` }))] } },
    }),
    /an index of fewer than two or more than eight paths/,
  ],
  [
    topologyOf({ orders: { indexingPolicy: { compositeIndexes: [[{ path: '/a/?' }, { path: '/b' }]] } } }),
    /entry whose path is not like "\/a\/b"/,
  ],
  [
    topologyOf({ orders: { indexingPolicy: { vectorIndexes: [{ path: '/v', type: 'flat' }] } } }),
    /vectorIndexes is not supported by the embedded Cosmos DB/,
  ],
])('refuses the topology %j at start, naming the container and the property', (topology, message) =>
  withDirectory(async (directory) => {
    const start = startCosmosDb({ dataDirectory: directory, fsync: 'never', topology });
    await expect(start).rejects.toThrow(message);
    await expect(start).rejects.toThrow(InvalidTopologyError);
  }),
);

it('names all problems of a topology together', () =>
  withDirectory(async (directory) => {
    const topology = topologyOf({
      orders: { partitionKey: '/id/', defaultTtl: 0 },
      'a/b': { indexingPolicy: { indexingMode: 'lazy', automatic: false } },
    });
    const start = startCosmosDb({ dataDirectory: directory, fsync: 'never', topology });
    await expect(start).rejects.toThrow(
      /orders: partitionKey.*orders: defaultTtl.*a\/b: name holds.*a\/b: indexingPolicy.indexingMode.*automatic/,
    );
  }));

it('returns an indexing policy as the service completes it', () =>
  withServer({}, async ({ client, server }) => {
    const { containers } = client.database(database);
    const { resource: plain } = await containers.create({ id: 'plain', partitionKey: '/id' });
    const complete = {
      indexingMode: 'consistent',
      automatic: true,
      includedPaths: [{ path: '/*' }],
      excludedPaths: [{ path: '/"_etag"/?' }],
    };
    expect(plain?.indexingPolicy).toEqual(complete);
    const legacy = { indexingMode: 'Consistent', includedPaths: [{ path: '/' }] };
    const { resource: older } = await containers.create({
      id: 'older',
      partitionKey: '/id',
      indexingPolicy: legacy as never,
    });
    expect(older?.indexingPolicy).toEqual(complete);
    const path = `dbs/${database}/colls/older`;
    const answer = await sendRaw(server, {
      method: 'GET',
      path: `/${path}`,
      resourceType: 'colls',
      resourceId: path,
    });
    expect(answer.headers['x-ms-documentdb-collection-index-transformation-progress']).toBe('100');
  }));
