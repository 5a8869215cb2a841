/** What the Cosmos DB adapters make of a service in trouble: transient or permanent, and nothing in between (C16, C41, T43). */
import type { ItemDefinition } from '@azure/cosmos';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createCosmosOrdersDatabase } from '../../functions/azure/cosmos-orders-database.js';
import { createCosmosStateStore } from '../../functions/azure/cosmos-state-store.js';
import { PermanentError, TransientError } from '../../functions/state/errors.js';
import type { StateStore } from '../../functions/state/ports.js';
import type { FaultRule } from '../../local/faults/index.js';
import { anOrder, aRecord, mustFind } from '../support/builders.js';
import { uniqueId } from '../support/contract-targets.js';
import { database, withServer } from '../support/cosmos-db.js';
import type { Fixture } from '../support/cosmos-db.js';

let fixture: Fixture | undefined;
let stop: () => void = () => undefined;
let running: Promise<void> | undefined;

beforeAll(async () => {
  await new Promise<void>((started) => {
    running = withServer({}, (own) => {
      fixture = own;
      started();
      return new Promise<void>((resolve) => {
        stop = resolve;
      });
    });
  });
});
afterAll(async () => {
  stop();
  await running;
});
beforeEach(() => {
  mustFind(fixture).server.setFaults();
});

const store = (): StateStore =>
  createCosmosStateStore(mustFind(fixture).client.database(database), {
    retentionDays: 120,
    unresolvedRetentionDays: 240,
  });

function breakIt(...rules: readonly FaultRule[]): void {
  mustFind(fixture).server.setFaults({ seed: 1, rules });
}

const refuse = (operation: string, error: string): FaultRule => ({ operation, action: 'refuse', error });

async function createdRecord(): Promise<ReturnType<typeof aRecord>> {
  const orderId = uniqueId();
  const record = aRecord({ id: orderId, orderId });
  await store().createIfAbsent(record);
  return record;
}

describe('the state store', () => {
  it.each(['429', '503', '449', '408', '401', '403'])(
    'answers %s as a transient fault, in writes, reads and queries (C41)',
    async (status) => {
      const record = await createdRecord();
      breakIt(refuse('create', status), refuse('read', status), refuse('replace', status), refuse('query', status));
      await expect(store().createIfAbsent(record)).rejects.toBeInstanceOf(TransientError);
      await expect(store().getLatest(record.orderId)).rejects.toBeInstanceOf(TransientError);
      await expect(store().replaceIfUnchanged(record, '"1"')).rejects.toBeInstanceOf(TransientError);
      const query = { state: 'Pending', notBefore: record.notBefore, pageSize: 10 } as const;
      const scan = store().pagePending(query)[Symbol.asyncIterator]();
      await expect(scan.next()).rejects.toBeInstanceOf(TransientError);
    },
  );

  it.each(['404/1002', '404/1003'])('does not take %s for an absent record', async (status) => {
    const record = await createdRecord();
    breakIt(refuse('read', status), refuse('replace', status));
    await expect(store().getLatest(record.orderId)).rejects.toBeInstanceOf(TransientError);
    await expect(store().replaceIfUnchanged(record, '"1"')).rejects.toBeInstanceOf(TransientError);
  });

  it.each(['400', '413'])('answers %s as a permanent fault (C38)', async (status) => {
    const record = await createdRecord();
    breakIt(refuse('replace', status));
    await expect(store().replaceIfUnchanged(record, '"1"')).rejects.toBeInstanceOf(PermanentError);
  });

  it('does not know whether a write took effect when the connection is cut, and reads it back (I2, T43)', async () => {
    const record = await createdRecord();
    const own = store();
    const seen = mustFind(await own.getLatest(record.orderId));
    breakIt({ operation: 'replace', action: 'cutAfterCommit', times: 1 });
    const changed = { ...seen.record, attempt: 1 };
    await expect(own.replaceIfUnchanged(changed, seen.etag)).rejects.toBeInstanceOf(TransientError);
    expect(await own.replaceIfUnchanged(changed, seen.etag)).toEqual({ kind: 'conflict' });
    expect((await own.get(record.orderId))?.record).toEqual(changed);
  });
});

describe('the life of a stored record', () => {
  async function storedTtl(record: ReturnType<typeof aRecord>): Promise<unknown> {
    const own = store();
    const seen = mustFind(await own.getLatest(record.orderId));
    const result = await own.replaceIfUnchanged(record, seen.etag);
    expect(result.kind).toBe('replaced');
    const item = mustFind(fixture).container('order-state').item(record.orderId, record.orderId);
    const { resource } = await item.read<ItemDefinition>();
    return resource?.ttl;
  }

  it('is bounded once its order has ended, and longer if the order was given up (R47, T33, C25)', async () => {
    const record = await createdRecord();
    const days = { Processed: 120, Compensated: 120, Error: 240, CompensationFailed: 240 } as const;
    for (const processState of ['Pending', 'Processing', 'Compensating'] as const) {
      expect(await storedTtl({ ...record, processState }), processState).toBe(-1);
    }
    for (const [processState, kept] of Object.entries(days) as [keyof typeof days, number][]) {
      expect(await storedTtl({ ...record, processState }), processState).toBe(kept * 86_400);
    }
    expect(await storedTtl({ ...record, processState: 'Pending' }), 'resubmitted').toBe(-1);
  });

  it('ends before that of its order, which holds the address and the payment token (R47)', async () => {
    const orders = createCosmosOrdersDatabase(mustFind(fixture).client.database(database), { retentionDays: 400 });
    const order = anOrder({ orderId: uniqueId() });
    await orders.createIfAbsent(order);
    const item = mustFind(fixture).container('orders').item(order.orderId, order.orderId);
    const { resource } = await item.read<ItemDefinition>();
    expect(resource?.ttl).toBe(400 * 86_400);
  });

  it('is no part of the record that is read (C25)', async () => {
    const record = await createdRecord();
    await storedTtl({ ...record, attempt: 1 });
    expect((await store().getLatest(record.orderId))?.record).toEqual({ ...record, attempt: 1 });
  });
});

describe('the orders database', () => {
  it('finds its own order after a create whose answer was lost (C16)', async () => {
    const orders = createCosmosOrdersDatabase(mustFind(fixture).client.database(database), { retentionDays: 400 });
    const order = anOrder({ orderId: uniqueId() });
    breakIt({ operation: 'create', action: 'cutAfterCommit', times: 1 });
    await expect(orders.createIfAbsent(order)).rejects.toBeInstanceOf(TransientError);
    expect(await orders.createIfAbsent(order)).toEqual({ created: false, stored: order });
  });

  it('answers a throttled service as a transient fault (C41)', async () => {
    const orders = createCosmosOrdersDatabase(mustFind(fixture).client.database(database), { retentionDays: 400 });
    breakIt(refuse('create', '429'), refuse('read', '429'));
    await expect(orders.createIfAbsent(anOrder({ orderId: uniqueId() }))).rejects.toBeInstanceOf(TransientError);
    await expect(orders.get(uniqueId())).rejects.toBeInstanceOf(TransientError);
  });

  it('does not take a session that is not available for an absent order', async () => {
    const orders = createCosmosOrdersDatabase(mustFind(fixture).client.database(database), { retentionDays: 400 });
    breakIt(refuse('read', '404/1002'));
    await expect(orders.get(uniqueId())).rejects.toBeInstanceOf(TransientError);
  });

  it('answers a stored order of another id as a permanent fault', async () => {
    const id = uniqueId();
    const orders = createCosmosOrdersDatabase(mustFind(fixture).client.database(database), { retentionDays: 400 });
    await mustFind(fixture).container('orders').items.create({ id, order: anOrder() });
    await expect(orders.get(id)).rejects.toBeInstanceOf(PermanentError);
  });

  it('answers a stored order that does not fit the contract as a permanent fault', async () => {
    const id = uniqueId();
    const orders = createCosmosOrdersDatabase(mustFind(fixture).client.database(database), { retentionDays: 400 });
    await mustFind(fixture)
      .container('orders')
      .items.create({ id, order: { orderId: id } });
    await expect(orders.get(id)).rejects.toBeInstanceOf(PermanentError);
  });
});
