import { beforeEach, describe, expect, it } from 'vitest';
import { agentRequestSchema } from '../../functions/contracts/agent-request.js';
import { addMs } from '../../functions/contracts/timestamp.js';
import { advanceAttempt } from '../../functions/scheduler/advance.js';
import type { AdvanceDeps } from '../../functions/scheduler/advance.js';
import type { AdvanceRequest, AdvanceResult } from '../../functions/scheduler/attempt-messages.js';
import { PermanentError, TransientError } from '../../functions/state/errors.js';
import {
  aRecord,
  advanced,
  anOrder,
  claimed,
  compensatingRecord,
  orderLifetimeMs,
  replyTo,
  stepDeadlineMs,
} from '../support/builders.js';
import { faultAt, faultySender, faultyStore } from '../support/faulty.js';
import { createManualClock, startOfTime } from '../support/manual-clock.js';
import type { ManualClock } from '../support/manual-clock.js';
import {
  createMemoryOrdersDatabase,
  createMemoryStateDatabase,
  createMemoryStateStore,
} from '../support/memory-stores.js';
import type { MemoryStateDatabase } from '../support/memory-stores.js';
import { createRecordingSender, createRecordingTelemetry } from '../support/recording.js';

const replyToken = '3f0e8a52-9c5b-5d3a-9a53-0b6c4e8f1a11';

let database: MemoryStateDatabase;
let sender: ReturnType<typeof createRecordingSender>;
let telemetry: ReturnType<typeof createRecordingTelemetry>;
let deps: AdvanceDeps;
let clock: ManualClock;

beforeEach(async () => {
  database = createMemoryStateDatabase();
  clock = createManualClock();
  sender = createRecordingSender();
  telemetry = createRecordingTelemetry();
  const orders = createMemoryOrdersDatabase();
  await orders.createIfAbsent(anOrder());
  deps = {
    store: createMemoryStateStore(database),
    clock,
    sender,
    telemetry,
    orders,
    policy: { stepDeadlineMs, orderLifetimeMs, backoffMs: 500, maxBackoffMs: 60_000 },
    random: () => 0,
  };
});

function advanceIt(
  reply?: AdvanceRequest['reply'],
  overrides: Partial<AdvanceDeps> = {},
  attempt = 1,
): Promise<AdvanceResult> {
  const request = { orderId: 'A-1', instanceId: `A-1.${attempt}`, replyToken, reply };
  return advanceAttempt(request, { ...deps, ...overrides });
}

const requests = (): readonly unknown[] => sender.queued('payment-requests').map(({ body }) => body);

describe('advanceAttempt', () => {
  it('records the step, then sends its request with deadline, allowance and keys (R11, R13, R23, R101)', async () => {
    database.put(claimed());
    const completeBy = addMs(startOfTime, stepDeadlineMs);
    expect(await advanceIt()).toEqual({
      kind: 'dispatched',
      stepId: 'payment',
      requestId: 'A-1.1.payment',
      completeBy,
      agent: 'payment',
      transport: 'queue',
      allottedMs: stepDeadlineMs,
    });
    expect(requests().map((body) => agentRequestSchema.parse(body))).toEqual([
      {
        schemaVersion: 1,
        requestId: 'A-1.1.payment',
        orderId: 'A-1',
        attempt: 1,
        stepId: 'payment',
        action: 'do',
        completeBy,
        callAllowance: 2,
        failures: 0,
        idempotencyKey: 'A-1.payment',
        fencingToken: 1,
        replyToken,
        payload: { amountMinor: 3998, currency: 'EUR', paymentToken: 'tok_ok' },
        traceparent: null,
      },
    ]);
  });

  it('sends the request under its own id, and only for as long as the step may take (T26, T28)', async () => {
    database.put(claimed());
    await advanceIt();
    expect(sender.queued('payment-requests')[0]).toMatchObject({
      messageId: 'A-1.1.payment',
      correlationId: 'A-1',
      timeToLiveMs: stepDeadlineMs,
    });
  });

  it('gives the request of the next attempt another id and the same key (C1, T28)', async () => {
    database.put(claimed());
    await advanceIt();
    database.put(claimed({ ...database.record('A-1'), processState: 'Pending', lockedBy: null }));
    await advanceIt(undefined, {}, 2);
    const bodies = requests().map((body) => agentRequestSchema.parse(body));
    expect(bodies.map(({ requestId }) => requestId)).toEqual(['A-1.1.payment', 'A-1.2.payment']);
    expect(new Set(bodies.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
    expect(bodies.map(({ fencingToken }) => fencingToken)).toEqual([1, 2]);
  });

  it('leaves an agent that is an activity of the app to the orchestrator', async () => {
    database.put(advanced(claimed()));
    expect(await advanceIt(replyTo(advanced(claimed()), 'succeeded'))).toMatchObject({
      kind: 'dispatched',
      stepId: 'inventory',
      transport: 'activity',
    });
    expect(sender.sent.filter(({ queue }) => queue.endsWith('-requests'))).toEqual([]);
  });

  it('asks for an undo under the undo key (R43)', async () => {
    database.put(claimed(compensatingRecord()));
    expect(await advanceIt(undefined, {}, 2)).toMatchObject({ kind: 'dispatched', stepId: 'payment' });
    expect(requests()[0]).toMatchObject({ action: 'undo', idempotencyKey: 'A-1.payment.undo', fencingToken: 2 });
  });

  it('gives an undo the result that the do recorded, and nothing of the order (R43)', async () => {
    const record = claimed(compensatingRecord());
    const steps = record.steps.map((step) => ({ ...step, result: { reference: 'payment-7' } }));
    database.put({ ...record, steps });
    await advanceIt(undefined, {}, 2);
    expect(requests()[0]).toMatchObject({ action: 'undo', payload: { reference: 'payment-7' } });
    expect(JSON.stringify(requests()[0])).not.toContain('tok_ok');
  });

  it('gives an undo no payload when the outcome of the do is unknown (R43)', async () => {
    const record = claimed(compensatingRecord());
    database.put({ ...record, steps: record.steps.map((step) => ({ ...step, result: null })) });
    await advanceIt(undefined, {}, 2);
    expect(requests()[0]).toMatchObject({ action: 'undo', payload: {} });
  });

  it('ends the attempt with the order', async () => {
    const last = advanced(advanced(advanced(claimed()), {}), {});
    database.put(last);
    expect(await advanceIt(replyTo(last, 'succeeded'))).toEqual({ kind: 'ended', processState: 'Processed' });
  });

  it('stops an attempt that no longer owns the order, without a request (I1, T4, T40)', async () => {
    const recovered = { ...claimed(), processState: 'Pending', lockedBy: null } as const;
    for (const record of [recovered, claimed(recovered)]) {
      database.put(record);
      expect(await advanceIt()).toEqual({ kind: 'superseded' });
    }
    expect(requests()).toEqual([]);
    expect(telemetry.count('attempt-superseded')).toBe(2);
  });
});

describe('a repeat of advance', () => {
  const spent = (): number => database.record('A-1').budget.spent;

  it('after the request could not be sent sends it, and spends nothing again (A3, T34)', async () => {
    database.put(claimed());
    const broken = faultySender(sender, faultAt('payment-requests', { 0: 'unavailable' }));
    await expect(advanceIt(undefined, { sender: broken })).rejects.toBeInstanceOf(TransientError);
    const before = spent();
    expect(await advanceIt()).toMatchObject({ kind: 'dispatched', requestId: 'A-1.1.payment' });
    expect(spent()).toBe(before);
    expect(requests()).toHaveLength(1);
  });

  it('after the acknowledgement of the send was lost sends the same message again (T34, C16)', async () => {
    database.put(claimed());
    const broken = faultySender(sender, faultAt('payment-requests', { 0: 'lostAcknowledgement' }));
    await expect(advanceIt(undefined, { sender: broken })).rejects.toBeInstanceOf(TransientError);
    await advanceIt();
    expect(sender.sent.filter(({ queue }) => queue === 'payment-requests')).toHaveLength(2);
    expect(requests()).toHaveLength(1);
  });

  it('after the acknowledgement of the write was lost goes on as if nothing had been (I2, T43)', async () => {
    database.put(claimed());
    const store = faultyStore(deps.store, faultAt('replaceIfUnchanged', { 0: 'lostAcknowledgement' }));
    expect(await advanceIt(undefined, { store })).toMatchObject({ kind: 'dispatched' });
    expect(await advanceIt(undefined, { store })).toMatchObject({ kind: 'dispatched' });
    expect(spent()).toBe(4);
  });
});

describe('a late repeat of an earlier turn', () => {
  const another = '7d0d3f0e-0b6b-4a7e-8a52-5d3a9a530b6c';
  const send = (turn: Partial<AdvanceRequest>, overrides: Partial<AdvanceDeps> = {}): Promise<AdvanceResult> =>
    advanceAttempt({ orderId: 'A-1', instanceId: 'A-1.1', replyToken, ...turn }, { ...deps, ...overrides });
  const shippingRequests = (): readonly unknown[] => sender.queued('shipping-requests').map(({ body }) => body);

  it('does not send the request of a later turn under its own token', async () => {
    const paid = advanced(advanced(claimed()), {});
    const reserved = replyTo(paid, 'succeeded');
    database.put(paid);
    const broken = faultySender(sender, faultAt('shipping-requests', { 0: 'unavailable' }));
    await expect(send({ reply: reserved }, { sender: broken })).rejects.toBeInstanceOf(TransientError);

    const payment = { stepId: 'payment', requestId: 'A-1.1.payment', outcome: 'succeeded' } as const;
    for (const earlier of [undefined, payment]) {
      expect(await send({ reply: earlier, replyToken: another })).toEqual({ kind: 'superseded' });
    }
    expect(await send({ reply: reserved })).toMatchObject({ kind: 'dispatched', stepId: 'shipping' });
    expect(shippingRequests()).toMatchObject([{ replyToken }]);
  });

  it('does not send the undo of a later turn under its own token', async () => {
    const refused = advanced(advanced(advanced(claimed()), {}), {});
    database.put(claimed(advanced(refused, replyTo(refused, 'refused'))));
    const instanceId = 'A-1.2';
    expect(await send({ instanceId })).toMatchObject({ kind: 'dispatched', stepId: 'inventory' });
    const released = { stepId: 'inventory', requestId: 'A-1.2.inventory', outcome: 'succeeded' } as const;
    expect(await send({ instanceId, reply: released })).toMatchObject({ kind: 'dispatched', stepId: 'payment' });
    expect(await send({ instanceId, replyToken: another })).toEqual({ kind: 'superseded' });
    expect(requests()).toMatchObject([{ replyToken }]);
  });
});

describe('a record that is not visible in its newest version', () => {
  const waitsForRepeat = async (reply?: AdvanceRequest['reply'], attempt = 1): Promise<void> => {
    const before = database.documents.get('A-1');
    await expect(advanceIt(reply, {}, attempt)).rejects.toBeInstanceOf(TransientError);
    expect(database.documents.get('A-1')).toEqual(before);
    expect(telemetry.events).toEqual([]);
    expect(requests()).toEqual([]);
  };

  it('proves nothing when it is not visible at all', async () => {
    await waitsForRepeat();
  });

  it('proves nothing when it is from before the claim of the attempt', async () => {
    for (const record of [aRecord(), claimed()]) {
      database.put(record);
      await waitsForRepeat(undefined, 2);
    }
  });

  it('proves nothing when it does not know yet the step that was answered', async () => {
    const running = advanced(claimed());
    for (const record of [claimed(), aRecord()]) {
      database.put(record);
      await waitsForRepeat(replyTo(running, 'succeeded'));
    }
  });
});

describe('a request that could not be sent before the deadline of its step', () => {
  it.each([
    ['over a queue', () => claimed(), undefined],
    ['in the app', () => advanced(claimed()), { stepId: 'payment', requestId: 'A-1.1.payment', outcome: 'succeeded' }],
  ] as const)('is not sent any more, and the attempt ends without a failure (%s)', async (_how, order, reply) => {
    database.put(order());
    const store = faultyStore(deps.store, faultAt('replaceIfUnchanged', { 0: 'lostAcknowledgement' }));
    const away = { ...store, getLatest: () => Promise.reject(new TransientError('no store')) };
    await expect(advanceIt(reply, { store: away })).rejects.toBeInstanceOf(TransientError);
    clock.advance(stepDeadlineMs);
    expect(await advanceIt(reply)).toEqual({ kind: 'tooLate' });
    expect(requests()).toEqual([]);
    expect(database.record('A-1').failureCount).toBe(0);
  });
});

describe('what no repeat cures', () => {
  it('ends the order in Error: its details are missing, minutes after they were stored (T42)', async () => {
    const orders = createMemoryOrdersDatabase();
    database.put(claimed(aRecord({}, addMs(startOfTime, -301_000))));
    await expect(advanceIt(undefined, { orders })).rejects.toBeInstanceOf(TransientError);
    clock.advance(3_000);
    await expect(advanceIt(undefined, { orders })).rejects.toBeInstanceOf(TransientError);
    clock.advance(3_000);
    expect(await advanceIt(undefined, { orders })).toEqual({ kind: 'ended', processState: 'Error' });
    expect(database.record('A-1').error).toMatchObject({ code: 'OrderMissing' });
    expect(telemetry.count('order-needs-operator')).toBe(1);
  });

  it('is no order that is only not visible yet, soon after it was stored', async () => {
    const orders = createMemoryOrdersDatabase();
    const policy = { ...deps.policy, stepDeadlineMs: 600_000 };
    database.put(claimed());
    for (const waitMs of [0, 10_000, 280_000]) {
      clock.advance(waitMs);
      await expect(advanceIt(undefined, { orders, policy })).rejects.toBeInstanceOf(TransientError);
    }
    expect(database.record('A-1')).toMatchObject({ processState: 'Processing', error: null });
    await orders.createIfAbsent(anOrder());
    expect(await advanceIt(undefined, { orders, policy })).toMatchObject({ kind: 'dispatched' });
  });

  it('leaves an order alone whose workflow only a newer build knows (R53, T41)', async () => {
    const newer = { ...claimed(), workflowVersion: 99 };
    database.put(newer);
    await expect(advanceIt()).rejects.toBeInstanceOf(PermanentError);
    expect(database.documents.get('A-1')?.document).toEqual(newer);
  });

  it('ends the order in Error: the agent’s queue does not exist', async () => {
    sender.fail('permanent', (queue) => queue === 'payment-requests');
    database.put(claimed());
    expect(await advanceIt()).toEqual({ kind: 'ended', processState: 'Error' });
  });
});
