/** Upsert, patch, transactional batch, time to live. */
import type { OperationInput, PatchOperation } from '@azure/cosmos';
import { afterEach, expect, it, vi } from 'vitest';
import { queryAll, statusOf, topologyOf, withDirectory, withServer, withServerIn } from '../support/cosmos-db.js';

afterEach(() => {
  vi.useRealTimers();
});

it('upserts: creates at first, replaces then, and honours If-Match', () =>
  withServer({}, async ({ container }) => {
    const orders = container('orders');
    const first = await orders.items.upsert({ id: 'A-1', n: 1 });
    expect(first.statusCode).toBe(201);
    const second = await orders.items.upsert({ id: 'A-1', n: 2 });
    expect(second.statusCode).toBe(200);
    const stale = { accessCondition: { type: 'IfMatch', condition: first.etag } };
    expect(await statusOf(orders.items.upsert({ id: 'A-1', n: 3 }, stale))).toBe(412);
  }));

it('answers 304 to a read whose If-None-Match names the present version', () =>
  withServer({}, async ({ container }) => {
    const { etag } = await container('orders').items.create({ id: 'A-1' });
    const item = container('orders').item('A-1', 'A-1');
    const same = await item.read({ accessCondition: { type: 'IfNoneMatch', condition: etag } });
    expect(same).toMatchObject({ statusCode: 304, resource: null });
    await item.replace({ id: 'A-1', n: 2 });
    expect((await item.read({ accessCondition: { type: 'IfNoneMatch', condition: etag } })).statusCode).toBe(200);
  }));

it('patches parts of an item, all operations or none', () =>
  withServer({}, async ({ container }) => {
    const orders = container('orders');
    await orders.items.create({ id: 'A-1', n: 1, list: ['a', 'c'], inner: { old: true } });
    const item = orders.item('A-1', 'A-1');
    const patched = await item.patch([
      { op: 'add', path: '/list/1', value: 'b' },
      { op: 'add', path: '/list/-', value: 'd' },
      { op: 'set', path: '/list/0', value: 'A' },
      { op: 'incr', path: '/n', value: 4 },
      { op: 'remove', path: '/inner/old' },
      { op: 'set', path: '/inner/new', value: null },
    ]);
    expect(patched.resource).toMatchObject({ n: 5, list: ['A', 'b', 'c', 'd'], inner: { new: null } });
    const half: PatchOperation[] = [
      { op: 'set', path: '/n', value: 9 },
      { op: 'replace', path: '/missing', value: 1 },
    ];
    expect(await statusOf(item.patch(half))).toBe(400);
    expect((await item.read()).resource).toMatchObject({ n: 5 });
  }));

it('patches only where the condition holds', () =>
  withServer({}, async ({ container }) => {
    const records = container('order-state');
    await records.items.create({ id: 'A-1', lockedBy: null });
    const item = records.item('A-1', 'A-1');
    const claim = (who: string): Promise<unknown> =>
      item.patch({
        condition: 'FROM c WHERE IS_NULL(c.lockedBy)',
        operations: [{ op: 'set', path: '/lockedBy', value: who }],
      });
    expect(await Promise.all([statusOf(claim('one')), statusOf(claim('two'))])).toEqual([undefined, 412]);
  }));

it.each<[string, PatchOperation]>([
  ['the id', { op: 'set', path: '/id', value: 'x' }],
  ['a system property', { op: 'set', path: '/_etag', value: 'x' }],
  ['an index outside the array', { op: 'add', path: '/list/9', value: 1 }],
  ['a number that is none', { op: 'incr', path: '/list', value: 1 }],
  ['a parent that is missing', { op: 'add', path: '/no/such', value: 1 }],
])('refuses a patch of %s', (_, operation) =>
  withServer({}, async ({ container }) => {
    await container('orders').items.create({ id: 'A-1', list: [1] });
    expect(await statusOf(container('orders').item('A-1', 'A-1').patch([operation]))).toBe(400);
  }),
);

it('refuses more than ten operations in a patch', () =>
  withServer({}, async ({ container }) => {
    await container('orders').items.create({ id: 'A-1' });
    const operations = Array.from({ length: 11 }, (_, n): PatchOperation => ({ op: 'set', path: `/p${n}`, value: n }));
    expect(await statusOf(container('orders').item('A-1', 'A-1').patch(operations))).toBe(400);
  }));

const ledgerTopology = topologyOf({ ledger: { partitionKey: '/orderId' } });

it('applies a transactional batch whole, each operation seeing the ones before', () =>
  withServer({ topology: ledgerTopology }, async ({ container }) => {
    const ledger = container('ledger');
    await ledger.items.create({ id: 'old', orderId: 'A-1' });
    const operations: OperationInput[] = [
      { operationType: 'Create', resourceBody: { id: 'new', orderId: 'A-1', n: 1 } },
      { operationType: 'Replace', id: 'new', resourceBody: { id: 'new', orderId: 'A-1', n: 2 } },
      { operationType: 'Patch', id: 'new', resourceBody: { operations: [{ op: 'incr', path: '/n', value: 5 }] } },
      { operationType: 'Read', id: 'new' },
      { operationType: 'Delete', id: 'old' },
    ];
    const { code, result } = await ledger.items.batch(operations, 'A-1');
    expect(code).toBe(200);
    expect(result?.map(({ statusCode }) => statusCode)).toEqual([201, 200, 200, 200, 204]);
    expect(result?.[3]?.resourceBody).toMatchObject({ n: 7 });
    const { items } = await queryAll<string>(ledger, 'SELECT VALUE c.id FROM c', { partitionKey: 'A-1' });
    expect(items).toEqual(['new']);
  }));

it('applies nothing of a batch when one operation fails, and says which', () =>
  withServer({ topology: ledgerTopology }, async ({ container }) => {
    const ledger = container('ledger');
    const { etag } = await ledger.items.create({ id: 'old', orderId: 'A-1' });
    await ledger.item('old', 'A-1').replace({ id: 'old', orderId: 'A-1', n: 1 });
    const operations: OperationInput[] = [
      { operationType: 'Create', resourceBody: { id: 'new', orderId: 'A-1' } },
      { operationType: 'Replace', id: 'old', ifMatch: etag, resourceBody: { id: 'old', orderId: 'A-1', n: 2 } },
      { operationType: 'Create', resourceBody: { id: 'other', orderId: 'A-1' } },
    ];
    const { code, result } = await ledger.items.batch(operations, 'A-1');
    expect(code).toBe(207);
    expect(result?.map(({ statusCode }) => statusCode)).toEqual([424, 412, 424]);
    const { items } = await queryAll<string>(ledger, 'SELECT VALUE c.id FROM c');
    expect(items).toEqual(['old']);
  }));

it('refuses a batch of another partition key, and bulk', () =>
  withServer({ topology: ledgerTopology }, async ({ container }) => {
    const ledger = container('ledger');
    const create: OperationInput = { operationType: 'Create', resourceBody: { id: 'a', orderId: 'A-2' } };
    expect(await ledger.items.batch([create], 'A-1')).toMatchObject({ code: 207 });
    const [answer] = await ledger.items.executeBulkOperations([{ ...create, partitionKey: 'A-2' }]);
    expect(answer?.error?.message).toMatch(/Bulk execution .* is not supported by the embedded Cosmos DB/);
  }));

it('hides expired items at once and lets their id be taken again', () =>
  withServer({ topology: topologyOf({ short: { defaultTtl: 60 }, off: {} }) }, async ({ container }) => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 1) });
    for (const name of ['short', 'off']) {
      await container(name).items.create({ id: 'default' });
      await container(name).items.create({ id: 'own', ttl: 5 });
      await container(name).items.create({ id: 'never', ttl: -1 });
    }
    vi.setSystemTime(Date.UTC(2026, 0, 1, 0, 0, 6));
    expect((await container('short').item('own', 'own').read()).statusCode).toBe(404);
    expect((await container('short').items.create({ id: 'own' })).statusCode).toBe(201);
    vi.setSystemTime(Date.UTC(2026, 0, 1, 0, 2, 0));
    const ids = async (name: string): Promise<string[]> =>
      (await queryAll<string>(container(name), 'SELECT VALUE c.id FROM c')).items.sort();
    expect(await ids('short')).toEqual(['never']);
    expect(await ids('off')).toEqual(['default', 'never', 'own']);
  }));

it('removes expired items for good: they do not come back when the container loses its time to live', () =>
  withDirectory(async (directory) => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 1) });
    const withTtl = { topology: topologyOf({ short: { defaultTtl: 60 } }) };
    await withServerIn(directory, withTtl, ({ container }) => container('short').items.create({ id: 'gone' }));
    vi.setSystemTime(Date.UTC(2026, 0, 2));
    await withServerIn(directory, withTtl, () => Promise.resolve());
    await withServerIn(directory, { topology: topologyOf({ short: {} }) }, async ({ container }) => {
      expect((await container('short').item('gone', 'gone').read()).statusCode).toBe(404);
    });
  }));

it.each([[0], [-2], [1.5], ['5'], [null]])('refuses the time to live %j (C25)', (ttl) =>
  withServer({}, async ({ container }) => {
    expect(await statusOf(container('orders').items.create({ id: 'A-1', ttl: ttl as never }))).toBe(400);
  }),
);
