import { beforeEach, describe, expect, it } from 'vitest';
import { TransientError } from '../../functions/state/errors.js';
import type { IntakeMode } from '../../functions/state/admission.js';
import type { OrdersDatabase } from '../../functions/state/ports.js';
import { submitOrder } from '../../functions/submit/submit-order.js';
import type { SubmitDeps, SubmitOutcome } from '../../functions/submit/submit-order.js';
import { claimed, orderMessage, processedRecord, workflowV1 } from '../support/builders.js';
import { faultAt, faultyStore } from '../support/faulty.js';
import { createManualClock } from '../support/manual-clock.js';
import {
  createMemoryOrdersDatabase,
  createMemoryStateDatabase,
  createMemoryStateStore,
} from '../support/memory-stores.js';
import type { MemoryStateDatabase } from '../support/memory-stores.js';
import { createRecordingSender, createRecordingTelemetry } from '../support/recording.js';

let database: MemoryStateDatabase;
let orders: OrdersDatabase;
let sender: ReturnType<typeof createRecordingSender>;
let telemetry: ReturnType<typeof createRecordingTelemetry>;
let started: string[];
let mode: IntakeMode;
let deps: SubmitDeps;

beforeEach(() => {
  database = createMemoryStateDatabase();
  orders = createMemoryOrdersDatabase();
  sender = createRecordingSender();
  telemetry = createRecordingTelemetry();
  started = [];
  mode = 'open';
  deps = {
    orders,
    store: createMemoryStateStore(database),
    clock: createManualClock(),
    telemetry,
    sender,
    gate: { mode: () => Promise.resolve(mode), mayStartNow: () => mode === 'open' },
    startNow: (orderId) => {
      started.push(orderId);
      return Promise.resolve();
    },
    policy: {
      applications: ['web-shop'],
      workflow: workflowV1,
      maxAttempts: 3,
      orderLifetimeMs: 3_600_000,
      busyRetryAfterMs: 30_000,
    },
  };
});

const submit = (body: unknown, overrides: Partial<SubmitDeps> = {}): Promise<SubmitOutcome> =>
  submitOrder({ body, brokerId: 'message-1', traceparent: null }, { ...deps, ...overrides });

function reasonOf(outcome: SubmitOutcome): string {
  return outcome.kind === 'rejected' ? outcome.rejection.reason : outcome.kind;
}

describe('submitOrder', () => {
  it('stores the order and its record, and starts it at once (R69, R70)', async () => {
    expect(await submit(orderMessage())).toEqual({ kind: 'accepted', orderId: 'A-1' });
    expect(await orders.get('A-1')).toMatchObject({ orderId: 'A-1', paymentToken: 'tok_ok' });
    expect(database.record('A-1')).toMatchObject({ processState: 'Pending', attempt: 0, lockedBy: null });
    expect(started).toEqual(['A-1']);
  });

  it('writes the order first and the record second (S1, T44)', async () => {
    const refusing = { ...orders, createIfAbsent: () => Promise.reject(new TransientError('no database')) };
    await expect(submit(orderMessage(), { orders: refusing })).rejects.toBeInstanceOf(TransientError);
    expect(database.documents.size).toBe(0);
  });

  it('creates the record that a crash between the two writes has left out (S2, R73, T47)', async () => {
    const store = faultyStore(deps.store, faultAt('createIfAbsent', { 0: 'unavailable' }));
    await expect(submit(orderMessage(), { store })).rejects.toBeInstanceOf(TransientError);
    expect(database.documents.size).toBe(0);
    expect(await submit(orderMessage(), { store })).toMatchObject({ kind: 'accepted' });
    expect(database.record('A-1').processState).toBe('Pending');
  });

  it('takes its own record for a duplicate when the acknowledgement was lost (C16)', async () => {
    const store = faultyStore(deps.store, faultAt('createIfAbsent', { 0: 'lostAcknowledgement' }));
    await expect(submit(orderMessage(), { store })).rejects.toBeInstanceOf(TransientError);
    expect(await submit(orderMessage(), { store })).toMatchObject({ kind: 'duplicate' });
  });

  it('creates one record of many deliveries at the same time (T50)', async () => {
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => submit(orderMessage())));
    expect(outcomes.filter(({ kind }) => kind === 'accepted')).toHaveLength(1);
    expect(started).toEqual(['A-1']);
  });
});

describe('the same order again', () => {
  // C6: while it is processing, and when it is processed
  it.each([
    ['processing', () => claimed()],
    ['processed', () => processedRecord()],
  ])('changes nothing while the first is %s', async (_name, record) => {
    await submit(orderMessage());
    const stored = { ...record(), orderHash: database.record('A-1').orderHash };
    database.put(stored);
    started = [];
    expect(await submit(orderMessage({ priority: 'normal' }))).toEqual({ kind: 'duplicate', orderId: 'A-1' });
    expect(database.record('A-1')).toEqual(stored);
    expect(started).toEqual([]);
  });

  it('with other data is refused, names the fields, quotes no value, and alerts (S3, R74, R75, C7)', async () => {
    await submit(orderMessage());
    const before = database.record('A-1');
    const outcome = await submit(orderMessage({ paymentToken: 'tok_secret', customerId: 'someone-else' }));
    expect(reasonOf(outcome)).toBe('OrderConflict');
    const text = JSON.stringify(outcome);
    expect(text).toContain('customerId, paymentToken');
    expect(text).not.toMatch(/tok_|someone-else|customer-7/);
    expect(telemetry.count('order-conflict')).toBe(1);
    expect(database.record('A-1')).toEqual(before);
    expect(await orders.get('A-1')).toMatchObject({ paymentToken: 'tok_ok' });
  });

  it.each(['web-shop', 'mobile-app'])(
    'under an id that is taken is told to its own application, %s',
    async (application) => {
      const policy = { ...deps.policy, applications: ['web-shop', 'mobile-app'] };
      await submit(orderMessage(), { policy });
      const outcome = await submit(orderMessage({ application, customerId: 'another' }), { policy });
      expect(reasonOf(outcome)).toBe('OrderConflict');
      expect(sender.queued(`status-${application}`).map(({ body }) => body)).toEqual([
        expect.objectContaining({
          orderId: 'A-1',
          seq: 0,
          status: 'OrderRejected',
          reason: expect.objectContaining({ code: 'OrderConflict' }) as unknown,
        }),
      ]);
      expect(sender.sent).toHaveLength(1);
    },
  );

  it('is delivered again while its application cannot be told', async () => {
    await submit(orderMessage());
    sender.fail('transient');
    await expect(submit(orderMessage({ customerId: 'another' }))).rejects.toBeInstanceOf(TransientError);
  });

  it('builds the record from the stored order, not from the message that lost (T45)', async () => {
    const [one, other] = [orderMessage({ priority: 'high' }), orderMessage()];
    const outcomes = await Promise.all([submit(one), submit(other)]);
    expect(outcomes.map(reasonOf).sort()).toEqual(['OrderConflict', 'accepted']);
    expect(database.record('A-1').priority).toBe((await orders.get('A-1'))?.priority);
  });

  it('is refused when the record belongs to another order than the stored one (R74)', async () => {
    await submit(orderMessage());
    database.put({ ...database.record('A-1'), orderHash: 'another' });
    expect(reasonOf(await submit(orderMessage()))).toBe('OrderConflict');
  });
});

describe('a message that is refused', () => {
  it.each([
    ['InvalidMessage', '{bad'],
    ['InvalidOrderId', orderMessage({ orderId: 'A#1' })],
    ['InvalidOrder', orderMessage({ lines: [] })],
    ['UnsupportedSchemaVersion', orderMessage({ schemaVersion: 2 })],
    ['UnknownApplication', orderMessage({ application: 'not-registered' })],
    ['UnknownApplication', orderMessage({ application: 'orders' })],
  ])(
    'for %s leaves nothing behind: no order, no record, no start, no status (C5, C24, T51, T56)',
    async (reason, body) => {
      expect(reasonOf(await submit(body))).toBe(reason);
      expect(await orders.get('A-1')).toBeUndefined();
      expect(database.documents.size).toBe(0);
      expect(started).toEqual([]);
      expect(sender.sent).toEqual([]);
    },
  );
});

describe('admission', () => {
  it('that is closed turns a new order away with when to come again, before any write (R51, T52)', async () => {
    mode = 'closed';
    expect(await submit(orderMessage())).toEqual({ kind: 'turnedAway', orderId: 'A-1' });
    expect(await orders.get('A-1')).toBeUndefined();
    expect(sender.queued('status-web-shop')[0]?.body).toMatchObject({ status: 'OrderRejected', retryAfterMs: 30_000 });
    expect(telemetry.count('order-turned-away')).toBe(1);
  });

  it('that is closed does not touch what was accepted before (AD2)', async () => {
    await submit(orderMessage());
    mode = 'closed';
    expect(await submit(orderMessage())).toMatchObject({ kind: 'duplicate' });
    expect(sender.sent).toEqual([]);
  });

  it('that is closed keeps the message when the refusal can’t be sent', async () => {
    mode = 'closed';
    sender.fail('transient');
    await expect(submit(orderMessage())).rejects.toBeInstanceOf(TransientError);
  });

  it('that is throttled stores the order and leaves the start to the starter', async () => {
    mode = 'throttled';
    expect(await submit(orderMessage())).toMatchObject({ kind: 'accepted' });
    expect(started).toEqual([]);
    expect(database.record('A-1').processState).toBe('Pending');
  });
});
