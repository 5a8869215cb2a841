/** Faults by rule, seen from the real client. */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Container, RequestOptions } from '@azure/cosmos';
import { describe, expect, it } from 'vitest';
import type { FaultRule } from '../../local/faults/index.js';
import { createClient, database, statusOf, topologyWithConsistency, withServer } from '../support/cosmos-db.js';

function plan(...rules: FaultRule[]) {
  return { seed: 1, rules };
}

it.each(['429', '449', '503', '408', '500'])('refuses with %s and changes nothing', (error) =>
  withServer({}, async ({ server, container }) => {
    const orders = container('orders');
    await orders.read();
    server.setFaults(plan({ operation: 'create', entity: 'orders', action: 'refuse', error }));
    expect(await statusOf(orders.items.create({ id: 'A-1' }))).toBe(Number(error));
    server.setFaults();
    expect((await orders.items.create({ id: 'A-1' })).statusCode).toBe(201);
  }),
);

it('hits only the operation and container of its rule, so many times as it says', () =>
  withServer({}, async ({ server, container }) => {
    server.setFaults(plan({ operation: 'read', entity: 'orders', action: 'refuse', error: '503', skip: 1, times: 1 }));
    const read = (name: string) => statusOf(container(name).item('none', 'none').read());
    expect(await read('order-state')).toBeUndefined();
    expect(await read('orders')).toBeUndefined();
    // The client itself repeats a read once after a 503; the rule is used up then.
    expect(await read('orders')).toBeUndefined();
    expect(server.counters()).toMatchObject({ 'faults/read/orders/refuse': 1, 'orders/read/503': 1 });
  }));

it('loses the acknowledgement after the commit: the write is there (C16)', () =>
  withServer({}, async ({ server, container }) => {
    const records = container('order-state');
    await records.read();
    server.setFaults(plan({ operation: 'create', action: 'cutAfterCommit', times: 1 }));
    expect(await statusOf(records.items.create({ id: 'A-1' }))).toBeDefined();
    server.setFaults(plan({ operation: 'replace', action: 'cutAfterCommit', times: 1 }));
    const item = records.item('A-1', 'A-1');
    const { etag } = await item.read();
    const condition = { accessCondition: { type: 'IfMatch', condition: etag } };
    expect(await statusOf(item.replace({ id: 'A-1', n: 1 }, condition))).toBeDefined();
    expect((await item.read()).resource).toMatchObject({ n: 1 });
    expect(await statusOf(item.replace({ id: 'A-1', n: 2 }, condition))).toBe(412);
  }));

it('cuts before the commit: the write is not there', () =>
  withServer({}, async ({ server, container }) => {
    const records = container('order-state');
    await records.read();
    server.setFaults(plan({ operation: 'create', action: 'cutBeforeCommit', times: 1 }));
    expect(await statusOf(records.items.create({ id: 'A-1' }))).toBeDefined();
    expect((await records.item('A-1', 'A-1').read()).statusCode).toBe(404);
  }));

it('drops a write that it acknowledges, and does a duplicated one twice', () =>
  withServer({}, async ({ server, container }) => {
    const records = container('order-state');
    await records.read();
    server.setFaults(plan({ operation: 'create', action: 'drop', times: 1 }));
    expect((await records.items.create({ id: 'A-1' })).statusCode).toBe(201);
    expect((await records.item('A-1', 'A-1').read()).statusCode).toBe(404);
    server.setFaults(plan({ operation: 'create', action: 'duplicate', times: 1 }));
    expect(await statusOf(records.items.create({ id: 'A-1' }))).toBe(409);
    expect((await records.item('A-1', 'A-1').read()).statusCode).toBe(200);
  }));

it('holds an operation until the rules are replaced, and lets others pass', () =>
  withServer({}, async ({ server, container }) => {
    const orders = container('orders');
    await orders.read();
    server.setFaults(plan({ operation: 'create', entity: 'orders', action: 'pause' }));
    let isDone = false;
    const held = orders.items.create({ id: 'A-1' }).then(() => (isDone = true));
    expect((await container('order-state').items.create({ id: 'A-1' })).statusCode).toBe(201);
    expect((await orders.item('A-1', 'A-1').read()).statusCode).toBe(404);
    expect(isDone).toBe(false);
    server.setFaults();
    await held;
  }));

it('delays an operation and then carries it out', () =>
  withServer({}, async ({ server, container }) => {
    await container('orders').read();
    server.setFaults(plan({ operation: 'create', action: 'delay', delayMs: 30 }));
    const start = performance.now();
    expect((await container('orders').items.create({ id: 'A-1' })).statusCode).toBe(201);
    expect(performance.now() - start).toBeGreaterThan(25);
  }));

describe('a replica that is behind', () => {
  const behind: FaultRule = { operation: 'replication', action: 'delay', delayMs: 60_000 };
  const onSessionAccount = { topology: topologyWithConsistency('Session') };
  const valueOf = async (records: Container, options: RequestOptions = {}): Promise<unknown> =>
    (await records.item('A-1', 'A-1').read<{ n: number }>(options)).resource?.n;

  it('shows a document as it was before, or not at all', () =>
    withServer(onSessionAccount, async ({ server, container }) => {
      const records = container('order-state');
      await records.items.create({ id: 'A-1', n: 1 });
      const other = createClient(server).database(database).container('order-state');
      await other.item('A-1', 'A-1').replace({ id: 'A-1', n: 2 });
      server.setFaults(plan({ ...behind, entity: 'orders' }));
      expect(await valueOf(other)).toBe(2);
      server.setFaults(plan(behind));
      expect(await valueOf(records)).toBeUndefined();
      expect(await valueOf(records, { consistencyLevel: 'Session' })).toBe(1);
      await other.item('A-1', 'A-1').delete();
      expect(await valueOf(records, { consistencyLevel: 'Session' })).toBe(1);
    }));

  it('keeps every write from being decided by an old version: conditions and conflicts are the newest', () =>
    withServer(onSessionAccount, async ({ server, container }) => {
      const records = container('order-state');
      const { etag } = await records.items.create({ id: 'A-1', n: 1 });
      await records.item('A-1', 'A-1').replace({ id: 'A-1', n: 2 });
      server.setFaults(plan(behind));
      const accessCondition = { type: 'IfMatch', condition: etag };
      expect(await statusOf(records.item('A-1', 'A-1').replace({ id: 'A-1', n: 3 }, { accessCondition }))).toBe(412);
      expect(await statusOf(records.items.create({ id: 'A-1' }))).toBe(409);
    }));

  it('never shows a client less than it has seen, if the client sends its session token', () =>
    withServer(onSessionAccount, async ({ server, container }) => {
      const records = container('order-state');
      await records.items.create({ id: 'A-1', n: 1 });
      await records.item('A-1', 'A-1').replace({ id: 'A-1', n: 2 });
      server.setFaults(plan(behind));
      expect(await valueOf(records)).toBeUndefined();
      expect(await valueOf(records, { consistencyLevel: 'Session' })).toBe(2);
      const other = createClient(server).database(database).container('order-state');
      expect(await valueOf(other, { consistencyLevel: 'Session' })).toBeUndefined();
    }));

  it.each(['Strong', 'BoundedStaleness'])(
    'is not asked by an account with consistency %s, unless a read relaxes it',
    (level) =>
      withServer({ topology: topologyWithConsistency(level) }, async ({ server, container, client }) => {
        const records = container('order-state');
        await records.items.create({ id: 'A-1', n: 1 });
        server.setFaults(plan(behind));
        expect(await valueOf(records)).toBe(1);
        expect(await valueOf(records, { consistencyLevel: 'Eventual' })).toBeUndefined();
        const { resource } = await client.getDatabaseAccount();
        expect(resource?.consistencyPolicy).toBe(level);
      }),
  );
});

it('charges a read twice where it has to ask two replicas, and refuses to promise more than the account', () =>
  withServer({ topology: topologyWithConsistency('BoundedStaleness') }, async ({ container }) => {
    const records = container('order-state');
    await records.items.create({ id: 'A-1' });
    const item = records.item('A-1', 'A-1');
    const { requestCharge } = await item.read();
    expect(requestCharge).toBe(2 * (await item.read({ consistencyLevel: 'Session' })).requestCharge);
    expect(await statusOf(item.read({ consistencyLevel: 'Strong' }))).toBe(400);
  }));

it('can say that a session is not available, which does not mean that the document is absent', () =>
  withServer({}, async ({ server, container }) => {
    const records = container('order-state');
    await records.items.create({ id: 'A-1' });
    server.setFaults(plan({ operation: 'read', action: 'refuse', error: '404/1002' }));
    const { statusCode, substatus } = await records.item('A-1', 'A-1').read();
    expect({ statusCode, substatus }).toEqual({ statusCode: 404, substatus: 1002 });
  }));

it.each<[FaultRule, RegExp]>([
  [{ operation: 'replication', action: 'drop' }, /rule 1: "replication" can have "delay" only/],
  [{ operation: 'read', action: 'refuse', error: '404/x' }, /"404\/1002" for example, not "404\/x"/],
  [{ operation: 'send', action: 'delay', delayMs: 1 }, /rule 1: operation "send" is none of/],
  [{ operation: 'read', action: 'drop' }, /"read" changes nothing that could be dropped/],
  [{ operation: 'create', action: 'delay' }, /needs delayMs/],
  [{ operation: 'create', action: 'refuse', error: 'com.microsoft:busy' }, /HTTP status/],
])('refuses the rule %j', (rule, message) =>
  withServer({}, ({ server }) => {
    expect(() => {
      server.setFaults(plan(rule));
    }).toThrow(message);
    return Promise.resolve();
  }),
);

it('throttles a container beyond its request units a second, and tells the client when to come back', () =>
  withServer({ throughput: 20 }, async ({ server, container }) => {
    const orders = container('orders');
    const tries = Array.from({ length: 30 }, (_, n) =>
      orders.items.create({ id: `A-${n}` }).then(
        () => undefined,
        (error: unknown) => error,
      ),
    );
    const refusals = (await Promise.all(tries)).filter((error) => error !== undefined);
    expect(refusals.length).toBeGreaterThan(10);
    expect(refusals[0]).toMatchObject({ code: 429, substatus: 3200, body: { code: 'TooManyRequests' } });
    expect((refusals[0] as { retryAfterInMs: number }).retryAfterInMs).toBeGreaterThan(0);
    expect(server.counters()['orders/create/429']).toBe(refusals.length);
  }));

it('closes while clients hold idle connections and one is in the middle of a request', () =>
  withServer({}, async ({ server }) => {
    const idle = connect(server.port, '127.0.0.1');
    const halfway = connect(server.port, '127.0.0.1');
    await Promise.all([once(idle, 'connect'), once(halfway, 'connect')]);
    halfway.write('POST /dbs/d/colls/c/docs HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"id"');
    const closed = [idle, halfway].map(
      (socket) =>
        new Promise((resolve) =>
          socket
            .on('error', () => undefined)
            .on('close', resolve)
            .resume(),
        ),
    );
    await server.close();
    await Promise.all(closed);
  }));
