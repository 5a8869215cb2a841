import { beforeEach, describe, expect, it } from 'vitest';
import { addMs } from '../../functions/contracts/timestamp.js';
import { operate, operatorVerbs, showOrder } from '../../functions/operator/operate.js';
import type { OperatorAnswer, OperatorDeps, OperatorVerb } from '../../functions/operator/operate.js';
import { hintSupervisor } from '../../functions/scheduler/hint-supervisor.js';
import { advanced, claimed, compensatingRecord, failedRecord, processedRecord, replyTo } from '../support/builders.js';
import { faultAt, faultyStore } from '../support/faulty.js';
import { createManualClock, startOfTime } from '../support/manual-clock.js';
import { createMemoryStateDatabase, createMemoryStateStore } from '../support/memory-stores.js';
import type { MemoryStateDatabase } from '../support/memory-stores.js';
import { createRecordingSender, createRecordingTelemetry } from '../support/recording.js';

let database: MemoryStateDatabase;
let telemetry: ReturnType<typeof createRecordingTelemetry>;
let deps: OperatorDeps;

beforeEach(() => {
  database = createMemoryStateDatabase();
  telemetry = createRecordingTelemetry();
  deps = {
    store: createMemoryStateStore(database),
    clock: createManualClock(),
    sender: createRecordingSender(),
    telemetry,
    policy: { budgetGrant: 30, orderLifetimeMs: 60_000 },
  };
});

const act = (
  verb: OperatorVerb,
  body: unknown = { reason: 'looked at it' },
  orderId = 'A-1',
): Promise<OperatorAnswer> => operate(verb, { orderId, body }, deps);

describe('an operator', () => {
  it('resubmits an order once, however often the button is clicked (C50, T83)', async () => {
    database.put(failedRecord());
    const answers = await Promise.all([act('resubmit'), act('resubmit'), act('resubmit')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect(database.record('A-1')).toMatchObject({
      processState: 'Pending',
      attempt: 1,
      budget: { allowed: 60 },
      expiresAt: addMs(startOfTime, 60_000),
    });
    expect(database.record('A-1').history.filter(({ actor }) => actor === 'operator')).toHaveLength(1);
  });

  it('is told that it is done although the store’s answer was lost, and it was done once (I2, T43)', async () => {
    database.put(failedRecord());
    deps = { ...deps, store: faultyStore(deps.store, faultAt('replaceIfUnchanged', { 0: 'lostAcknowledgement' })) };
    expect(await act('resubmit')).toMatchObject({ status: 200, json: { processState: 'Pending' } });
    expect(database.record('A-1').history.filter(({ actor }) => actor === 'operator')).toHaveLength(1);
  });

  it.each([
    ['processing', claimed()],
    ['processed', processedRecord()],
  ])('is told that an order that is %s can’t be resubmitted (C50)', async (_name, record) => {
    database.put(record);
    expect(await act('resubmit')).toEqual({
      status: 409,
      json: { code: 'wrongState', message: `the order is ${record.processState}` },
    });
    expect(database.record('A-1')).toEqual(record);
  });

  // C49
  it.each(['nope', '../x', '', 'A#1'])('is told that nobody knows order %j', async (orderId) => {
    for (const verb of operatorVerbs) expect(await act(verb, { reason: 'x' }, orderId)).toMatchObject({ status: 404 });
    expect(await showOrder(orderId, deps)).toEqual({
      status: 404,
      json: { code: 'UnknownOrder', message: 'no such order' },
    });
  });

  it.each([null, {}, { reason: '' }, { reason: 'x'.repeat(501) }, 'because'])(
    'has to give a reason: %j',
    async (body) => {
      database.put(failedRecord());
      expect(await act('resubmit', body)).toMatchObject({ status: 400 });
      expect(database.record('A-1')).toEqual(failedRecord());
    },
  );

  it('sees the record of an order', async () => {
    database.put(failedRecord());
    expect(await showOrder('A-1', deps)).toEqual({ status: 200, json: failedRecord() });
  });

  it('retries or skips a failed undo, by the step (T76, C51)', async () => {
    const undoing = advanced(claimed(compensatingRecord()));
    const failed = advanced(undoing, replyTo(undoing, 'failed'));
    database.put(failed);
    expect(await act('skip-undo', { reason: 'refunded by hand', stepId: 'payment' })).toMatchObject({ status: 200 });
    expect(database.record('A-1').processState).toBe('Compensated');
    database.put(failed);
    expect(await act('retry-undo', { reason: 'bank is back', stepId: 'payment' })).toMatchObject({ status: 200 });
    expect(database.record('A-1').processState).toBe('Compensating');
    expect(await act('skip-undo', { reason: 'x' })).toMatchObject({ status: 409 });
  });

  it('abandons, compensates and abandons again; no verb alerts an operator about himself (C52)', async () => {
    database.put(failedRecord());
    for (const verb of ['abandon', 'compensate', 'abandon'] as const)
      expect(await act(verb)).toMatchObject({ status: 200 });
    expect(database.record('A-1').processState).toBe('CompensationFailed');
    expect(telemetry.alerts).toEqual([]);
  });
});

it('the hint comes when the deadline and the grace have passed, once for a request', async () => {
  const sender = createRecordingSender();
  const input = { orderId: 'A-1', requestId: 'A-1.1.payment', completeBy: startOfTime, ending: 'timedOut' } as const;
  await hintSupervisor(input, sender, 500);
  await hintSupervisor(input, sender, 500);
  expect(sender.queued('supervisor-hints')).toEqual([
    expect.objectContaining({
      messageId: 'A-1.1.payment.expired',
      body: { schemaVersion: 1, orderId: 'A-1', requestId: 'A-1.1.payment', ending: 'timedOut' },
      notBefore: addMs(startOfTime, 500),
    }),
  ]);
});

it('the hint of an attempt that has stopped comes at once', async () => {
  const sender = createRecordingSender();
  const input = { orderId: 'A-1', requestId: 'A-1.1.payment', completeBy: startOfTime, ending: 'stopped' } as const;
  await hintSupervisor(input, sender, 500);
  expect(sender.queued('supervisor-hints')[0]).not.toHaveProperty('notBefore');
});
