/** Whole parts that are away for a while, a message that nobody can read, and an undo that never succeeds. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isTerminal } from '../../../functions/state/state-record.js';
import { countDeadLetters, violations } from '../../support/matrix-invariants.js';
import { sendTo } from '../../support/matrix-agent.js';
import { eventually, matrixOrder, startMatrixWorld } from '../../support/matrix-world.js';
import type { MatrixWorld } from '../../support/matrix-world.js';

const isFull = process.env['MATRIX'] === 'full';
/** The outage of the full matrix is a minute; the gate's is as long as the waits inside a message's lock. */
const outageMs = isFull ? 60_000 : 6_000;

/** A crowd of orders on a busy machine must not fail for being slow: these tests are about what is away. */
const patient = { STEP_DEADLINE_MS: '6000', CLAIM_LEASE_MS: '6000' };

describe('the system', () => {
  let world: MatrixWorld;
  const log: string[] = [];

  beforeAll(async () => {
    world = await startMatrixWorld({ settings: patient, log: (line) => log.push(line) });
  });
  afterAll(() => world.close());

  async function sendMany(prefix: string, count: number): Promise<ReadonlyMap<string, unknown>> {
    const orderIds = Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
    const sent = new Map(orderIds.map((orderId) => [orderId, matrixOrder(orderId)]));
    await Promise.all([...sent].map(([orderId, body]) => world.send(body, orderId)));
    return sent;
  }

  async function expectAllProcessed(sent: ReadonlyMap<string, unknown>, limitMs = 100_000): Promise<void> {
    const states = await eventually(
      'all orders to end',
      async () => {
        const records = await Promise.all([...sent.keys()].map((orderId) => world.record(orderId)));
        const hasEnded = records.every((record) => record !== undefined && isTerminal(record));
        return hasEnded ? records.map((record) => record?.processState) : undefined;
      },
      limitMs,
    );
    expect(states.filter((state) => state !== 'Processed')).toEqual([]);
  }

  it(`takes 20 orders while the store is away for ${outageMs / 1000} s, and none ends in a dead-letter queue (T48, C19)`, async () => {
    await world.stack.kill('cosmos-db');
    const sent = await sendMany('store-away', 20);
    await delay(outageMs); // The outage itself: nothing can be waited for while the store is away.
    await world.stack.restart('cosmos-db');
    await expectAllProcessed(sent, 180_000);
    expect(await violations(world, sent)).toEqual([]);
  }, 300_000);

  it('goes on where it was when the broker is killed and started again (C6, C76)', async () => {
    const sent = await sendMany('broker-away', 12);
    await eventually('work to begin', async () => (await world.record('broker-away-0')) !== undefined);
    await world.stack.kill('service-bus');
    await world.stack.restart('service-bus');
    await expectAllProcessed(sent);
    expect(await violations(world, sent)).toEqual([]);
  }, 200_000);

  it('goes on where it was when the host is killed in the middle of a crowd (C75)', async () => {
    const sent = await sendMany('host-away', 12);
    await eventually('work to begin', async () => (await world.record('host-away-0')) !== undefined);
    await world.stack.kill('functions-host');
    await world.stack.restart('functions-host');
    await expectAllProcessed(sent);
    expect(await violations(world, sent)).toEqual([]);
  }, 200_000);

  it('gives up an undo that never succeeds, says so once, and undoes when an operator asks again (T74, T76)', async () => {
    const orderId = 'never-undone';
    let isBroken = true;
    world.remote.script(orderId, (operation) => {
      if (operation === 'shipping/shipments') return 'refuse';
      return operation === 'payment/refunds' && isBroken ? 'unavailable' : 'work';
    });
    const sent = new Map([[orderId, matrixOrder(orderId)]]);
    await world.send(sent.get(orderId), orderId);
    await eventually(
      'the undo to be given up',
      async () => (await world.record(orderId))?.processState === 'CompensationFailed',
      60_000,
    );
    expect(await violations(world, sent)).toEqual([]);
    const isAlert = (line: string): boolean => line.includes('order-needs-operator') && line.includes(`"${orderId}"`);
    expect(log.filter(isAlert)).toHaveLength(1);
    isBroken = false;
    const headers = { 'content-type': 'application/json', 'x-functions-key': String(world.stack.hostKey) };
    const body = JSON.stringify({ reason: 'the bank is back' });
    await fetch(`${world.stack.hostUrl}/api/orders/${orderId}/compensate`, { method: 'POST', headers, body });
    await eventually('the undo', async () => (await world.record(orderId))?.processState === 'Compensated');
    expect(await violations(world, sent)).toEqual([]);
  }, 200_000);

  it('processes 99 good orders next to a message that is none (T51, C17, C19)', async () => {
    const before = await sendMany('beside-a', 50);
    await sendTo(world.bus, 'orders', Buffer.from('{ this is no order'), 'poison');
    const after = await sendMany('beside-b', 49);
    const sent = new Map([...before, ...after]);
    await expectAllProcessed(sent);
    await eventually('the poison to be put aside', async () => (await countDeadLetters(world)) === 1);
    expect(await violations(world, sent, 1)).toEqual([]);
  }, 200_000);
});
