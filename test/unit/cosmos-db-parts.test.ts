/** Parts with rules of their own: partition hash, sorted list, indexing policy, request charge. */
import { PartitionKeyDefinitionVersion, PartitionKeyKind } from '@azure/cosmos';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hashPartitionKey } from '../../node_modules/@azure/cosmos/dist/esm/utils/hashing/hash.js';
import { executePage } from '../../local/cosmos-db/query/execute.js';
import { parseQuery } from '../../local/cosmos-db/query/parser.js';
import { readCharge, replaceCharge, writeCharge } from '../../local/cosmos-db/request-charge.js';
import { createCatalog } from '../../local/cosmos-db/store/catalog.js';
import { readDefinition } from '../../local/cosmos-db/store/definition.js';
import { documentRid } from '../../local/cosmos-db/store/document.js';
import { readIndexingPolicy } from '../../local/cosmos-db/store/indexing-policy.js';
import { createOrderedList } from '../../local/cosmos-db/store/ordered-list.js';
import type { PartitionKeyValue } from '../../local/cosmos-db/store/partition-key.js';
import { effectivePartitionKey } from '../../local/cosmos-db/store/partition-key.js';
import { everythingIndexed, memoryContainer, store } from '../support/cosmos-db-query.js';

it('hashes partition keys as the client does (P1)', () => {
  const definition = { paths: ['/id'], kind: PartitionKeyKind.Hash, version: PartitionKeyDefinitionVersion.V2 };
  const key = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.double({ noNaN: true }),
    fc.boolean(),
    fc.constant(null),
  );
  const check = (value: PartitionKeyValue): void => {
    const ofClient = hashPartitionKey([value === undefined ? {} : value] as never, definition);
    expect(effectivePartitionKey(value)).toBe(ofClient);
  };
  fc.assert(fc.property(key, check), { numRuns: 500, seed: 1 });
  for (const value of ['', 'x'.repeat(15), 'x'.repeat(16), 'x'.repeat(17), 0, undefined]) check(value);
});

it('keeps a list sorted through any insertions and removals (L1, L2)', () => {
  const change = fc.record({ insert: fc.boolean(), element: fc.nat(3000) });
  const compare = (left: number, right: number): number => left - right;
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.nat(3000), { maxLength: 1500 }),
      fc.array(change, { maxLength: 800 }),
      fc.nat(3000),
      (start, changes, from) => {
        const list = createOrderedList(compare, start);
        const model = new Set(start);
        for (const { insert, element } of changes) {
          if (insert && !model.has(element)) list.insert(element);
          if (!insert) expect(list.remove(element)).toBe(model.has(element));
          if (insert) model.add(element);
          else model.delete(element);
        }
        const sorted = [...model].sort(compare);
        const probe = (element: number): number => element - from;
        expect(list.size()).toBe(sorted.length);
        expect([...list.ascend(probe)]).toEqual(sorted.filter((element) => element >= from));
        expect([...list.descend(probe)]).toEqual(sorted.filter((element) => element <= from).reverse());
      },
    ),
    { numRuns: 60, seed: 2 },
  );
});

it('gives documents _rids whose numbers grow in the order of their creation, as clients read them', () => {
  const sequences = [1, 2, 9, 255, 256, 3843, 2 ** 32 - 1, 2 ** 32, 1e15];
  const rids = sequences.map((sequence) => documentRid('AQAAAIMAAAA=', sequence));
  const bytes = rids.map((rid) => Buffer.from(rid.replaceAll('-', '/'), 'base64'));
  expect(bytes.map((rid) => Number(rid.readBigUInt64LE(8)))).toEqual(sequences);
  for (const rid of bytes) {
    expect(rid).toHaveLength(16);
    expect(rid.subarray(0, 8).toString('base64')).toBe('AQAAAIMAAAA=');
    expect((rid[15] ?? 0) >> 4).toBe(0); // Another value would name another type of resource.
  }
});

it('names a container by the same _rid in every run, whatever else there is', () => {
  const definitionOf = (name: string) =>
    readDefinition({ database: 'shop', properties: { id: name, partitionKey: '/id' }, nameProperty: 'id' }, []);
  const ridOf = (...names: string[]): string | undefined => {
    const catalog = createCatalog(1);
    for (const name of names) catalog.addContainer(definitionOf(name));
    return catalog.find('shop', 'orders')?.rid;
  };
  expect(ridOf('a', 'b', 'orders')).toBe(ridOf('orders'));
  expect(Buffer.from(ridOf('orders')?.replaceAll('-', '/') ?? '', 'base64')).toHaveLength(8);
});

describe('an indexing policy', () => {
  const policy = readIndexingPolicy(
    {
      includedPaths: [{ path: '/*' }, { path: '/secret/open/?' }],
      excludedPaths: [{ path: '/secret/*' }, { path: '/"odd name"/?' }],
    },
    [],
  );
  it.each<[string[], boolean]>([
    [['any'], true],
    [['secret', 'x'], false],
    [['secret', 'open'], true],
    [['secret', 'open', 'deeper'], false],
    [['odd name'], false],
    [['id'], true],
    [['_ts'], true],
    [['_etag'], false],
  ])('says of %j: indexed %j', (path, isIndexed) => {
    expect(policy.isIndexed(path)).toBe(isIndexed);
  });
});

it('charges by size along the published tables, a replace more than a create', () => {
  expect([100, 1024, 2048, 100 * 1024].map(readCharge)).toEqual([1, 1, 1.04, 7.68]);
  expect([100, 2048].map(writeCharge)).toEqual([4.95, 6.29]);
  expect(replaceCharge(1000)).toBe(9.26);
  expect(readCharge(10 * 2 ** 20)).toBe(291.8);
});

it('lets others write while an aggregate sees many documents, and counts the rest once (V1)', async () => {
  const container = memoryContainer(everythingIndexed, 2);
  const idOf = (index: number): string => `d${index}`;
  store(
    container,
    Array.from({ length: 10_000 }, (_, index) => ({ id: idOf(index), n: index })),
  );
  const query = parseQuery('SELECT COUNT(1) AS total, MAX(c.n) AS newest FROM c');
  const scope = { parameters: {}, now: 0 };
  const counting = executePage({ container, query, scope, partitions: container.partitions, maxItems: 100 });
  expect(counting).toBeInstanceOf(Promise);
  // Documents behind the place of the query go and come; those before it have been counted.
  for (let index = 9_000; index < 10_000; index += 1) container.remove(idOf(index), idOf(index), index);
  store(container, [{ id: 'later', n: 20_000 }]);
  expect((await counting).items).toEqual(['{"total":9001,"newest":20000}']);
});
