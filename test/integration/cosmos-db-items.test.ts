import { expect, it } from 'vitest';
import { queryAll, statusOf, withDirectory, withServer, withServerIn } from '../support/cosmos-db.js';

it('creates an item once and reads it back with its quoted etag', () =>
  withServer({}, async ({ container }) => {
    const orders = container('orders');
    const created = await orders.items.create({ id: 'A-1', lines: [{ sku: 'x', quantity: 2 }], note: null });
    expect(created.statusCode).toBe(201);
    expect(created.etag).toMatch(/^".+"$/);
    const read = await orders.item('A-1', 'A-1').read();
    expect(read.resource).toMatchObject({
      id: 'A-1',
      lines: [{ sku: 'x', quantity: 2 }],
      note: null,
      _etag: created.etag,
    });
    expect(await statusOf(orders.items.create({ id: 'A-1', lines: [] }))).toBe(409);
  }));

it('replaces only the version that If-Match names', () =>
  withServer({}, async ({ container }) => {
    const records = container('order-state');
    const first = await records.items.create({ id: 'A-1', attempt: 0 });
    const item = records.item('A-1', 'A-1');
    const condition = { accessCondition: { type: 'IfMatch', condition: first.etag } };
    const second = await item.replace({ id: 'A-1', attempt: 1 }, condition);
    expect(second.statusCode).toBe(200);
    expect(second.etag).not.toBe(first.etag);
    expect(await statusOf(item.replace({ id: 'A-1', attempt: 2 }, condition))).toBe(412);
    expect(await statusOf(item.delete(condition))).toBe(412);
    expect((await item.read()).resource).toMatchObject({ attempt: 1 });
  }));

it('lets exactly one of many competing conditional replaces through', () =>
  withServer({}, async ({ container }) => {
    const records = container('order-state');
    const { etag } = await records.items.create({ id: 'A-1', attempt: 0 });
    const tries = Array.from({ length: 20 }, (_, index) =>
      statusOf(
        records
          .item('A-1', 'A-1')
          .replace({ id: 'A-1', attempt: index }, { accessCondition: { type: 'IfMatch', condition: etag } }),
      ),
    );
    const statuses = await Promise.all(tries);
    expect(statuses.filter((status) => status === undefined)).toHaveLength(1);
    expect(statuses.filter((status) => status === 412)).toHaveLength(19);
  }));

it('answers 404 for what is not there, as data for a read and as an error for the rest', () =>
  withServer({}, async ({ client, container }) => {
    const item = container('orders').item('none', 'none');
    expect(await item.read()).toMatchObject({ statusCode: 404, resource: undefined });
    expect(await statusOf(item.replace({ id: 'none' }))).toBe(404);
    expect(await statusOf(item.delete())).toBe(404);
    expect(await statusOf(container('no-such-container').items.create({ id: 'a' }))).toBe(404);
    expect(await statusOf(client.database('no-such-database').read())).toBe(404);
  }));

it('charges modelled request units by size and kind of operation', () =>
  withServer({}, async ({ server, container }) => {
    const orders = container('orders');
    const small = await orders.items.create({ id: 'small' });
    const large = await orders.items.create({ id: 'large', text: 'x'.repeat(100_000) });
    expect(small.requestCharge).toBe(4.95);
    expect(large.requestCharge).toBeGreaterThan(30);
    expect((await orders.item('small', 'small').read()).requestCharge).toBe(2);
    expect(server.counters()).toMatchObject({ 'orders/create': 2, 'orders/read': 1 });
    expect(server.counters()['orders/modelledRequestUnits']).toBeCloseTo(
      small.requestCharge + large.requestCharge + 3,
      1,
    );
  }));

it('keeps every version with its etag over a restart, and never gives an etag twice', () =>
  withDirectory(async (directory) => {
    const etags = await withServerIn(directory, {}, async ({ container }) => {
      const records = container('order-state');
      const { etag: created } = await records.items.create({ id: 'A-1', attempt: 0 });
      const { etag: replaced } = await records.item('A-1', 'A-1').replace({ id: 'A-1', attempt: 1 });
      await records.items.create({ id: 'gone' });
      await records.item('gone', 'gone').delete();
      return [created, replaced];
    });
    await withServerIn(directory, {}, async ({ container }) => {
      const item = container('order-state').item('A-1', 'A-1');
      const { resource, etag } = await item.read<{ attempt: number }>();
      expect(resource).toMatchObject({ attempt: 1 });
      expect(etag).toBe(etags[1]);
      expect(await container('order-state').item('gone', 'gone').read()).toMatchObject({ statusCode: 404 });
      const next = await item.replace(
        { id: 'A-1', attempt: 2 },
        { accessCondition: { type: 'IfMatch', condition: etag } },
      );
      expect(etags).not.toContain(next.etag);
    });
  }));

it('keeps documents when the number of physical partitions changes', () =>
  withDirectory(async (directory) => {
    const ids = Array.from({ length: 40 }, (_, index) => `A-${index}`);
    await withServerIn(directory, { physicalPartitions: 2 }, async ({ container }) => {
      for (const id of ids) await container('order-state').items.create({ id });
    });
    await withServerIn(directory, { physicalPartitions: 5 }, async ({ container }) => {
      const { items } = await queryAll<string>(container('order-state'), 'SELECT VALUE c.id FROM c');
      expect(items.sort()).toEqual([...ids].sort());
    });
  }));
