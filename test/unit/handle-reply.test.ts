import { beforeEach, describe, expect, it } from 'vitest';
import { handleReply } from '../../functions/scheduler/handle-reply.js';
import type { ReplyDeps } from '../../functions/scheduler/handle-reply.js';
import { TransientError } from '../../functions/state/errors.js';
import { aRecord, advanced, claimed, processedRecord } from '../support/builders.js';
import { createManualClock, startOfTime } from '../support/manual-clock.js';
import { createMemoryStateDatabase, createMemoryStateStore } from '../support/memory-stores.js';
import type { MemoryStateDatabase } from '../support/memory-stores.js';
import { createRecordingOrchestrations, createRecordingTelemetry } from '../support/recording.js';

const reply = {
  schemaVersion: 1,
  requestId: 'A-1.1.payment',
  replyToken: '3f0e8a52-9c5b-5d3a-9a53-0b6c4e8f1a11',
  orderId: 'A-1',
  attempt: 1,
  stepId: 'payment',
  outcome: 'succeeded',
};

const message = (body: unknown, redelivery = 0): { body: unknown; redelivery: number } => ({ body, redelivery });

const replyOf = (attempt: number): unknown => ({ ...reply, attempt, requestId: `A-1.${attempt}.payment` });

let database: MemoryStateDatabase;
let orchestrations: ReturnType<typeof createRecordingOrchestrations>;
let telemetry: ReturnType<typeof createRecordingTelemetry>;
let deps: ReplyDeps;

beforeEach(() => {
  database = createMemoryStateDatabase();
  orchestrations = createRecordingOrchestrations();
  telemetry = createRecordingTelemetry();
  deps = { orchestrations, telemetry, clock: createManualClock(), store: createMemoryStateStore(database) };
});

const startInstance = (instanceId: string): Promise<unknown> =>
  orchestrations.start(instanceId, { orderId: 'A-1', attempt: 1 });

describe('handleReply', () => {
  it('raises the event of the step on the attempt that the reply names (R95)', async () => {
    await startInstance('A-1.1');
    expect(await handleReply(message(JSON.stringify(reply)), deps)).toBeUndefined();
    const payload = { ...reply, receivedAt: startOfTime };
    expect(orchestrations.raised).toEqual([{ instanceId: 'A-1.1', eventName: 'reply.payment', payload }]);
    expect(telemetry.events).toEqual([]);
  });

  // C4, T18: with zero calls to the runtime
  it.each([
    { instanceId: 'OTHER-1/terminate?reason=x#', orderId: 'A-4', status: 'Succeeded' },
    { ...reply, orderId: '../orchestrators/X' },
    { ...reply, orderId: 'A-4-1?taskHub=y' },
    { ...reply, stepId: 'e/../../../VICTIM/suspend?reason=1#' },
    { ...reply, requestId: 'B-1.1.payment' },
    '{bad',
  ])('refuses a reply that breaks the contract, without a call to the runtime (H1)', async (body) => {
    const rejection = await handleReply(message(body), deps);
    expect(['InvalidReply', 'InvalidMessage']).toContain(rejection?.reason);
    expect(orchestrations.calls).toEqual([]);
  });

  it('leaves a reply to the current attempt for redelivery while the runtime does not know it (H2, C9, T19)', async () => {
    database.put(advanced(claimed()));
    await expect(handleReply(message(reply), deps)).rejects.toBeInstanceOf(TransientError);
    await startInstance('A-1.1');
    await handleReply(message(reply), deps);
    expect(orchestrations.raised).toHaveLength(1);
  });

  it.each([
    ['another attempt owns the order', claimed({ ...advanced(claimed()), processState: 'Pending', lockedBy: null })],
    ['nobody owns it', { ...advanced(claimed()), processState: 'Pending', lockedBy: null }],
    ['it is processed', processedRecord()],
  ] as const)(
    'completes a late reply to an unknown attempt when %s, without alert (H3, C10, R16)',
    async (_name, record) => {
      database.put(record);
      expect(await handleReply(message(reply), deps)).toBeUndefined();
      expect(telemetry.count('reply-late')).toBe(1);
      expect(telemetry.alerts).toEqual([]);
      expect(database.record('A-1')).toEqual(record);
    },
  );

  it('completes a reply to an order that nobody knows, after it has asked again in a delayed copy', async () => {
    await expect(handleReply(message(reply), deps)).rejects.toBeInstanceOf(TransientError);
    expect(await handleReply(message(reply, 1), deps)).toBeUndefined();
    expect(telemetry.count('reply-late')).toBe(1);
    expect(telemetry.alerts).toEqual([]);
  });

  it('leaves a reply for redelivery while the record is visible only as it was before the attempt (H2)', async () => {
    const waiting = { ...advanced(claimed()), processState: 'Pending', lockedBy: null } as const;
    for (const record of [aRecord(), waiting, claimed(waiting)]) {
      database.put(record);
      await expect(handleReply(message(replyOf(3)), deps)).rejects.toBeInstanceOf(TransientError);
    }
    expect(telemetry.events).toEqual([]);
  });

  it.each(['constructor', 'nonsense'])(
    'counts a reply for the invented step %s and raises no event (H4)',
    async (stepId) => {
      await startInstance('A-1.1');
      database.put(advanced(claimed()));
      expect(await handleReply(message({ ...reply, stepId, requestId: `A-1.1.${stepId}` }), deps)).toBeUndefined();
      expect(orchestrations.raised).toEqual([]);
      expect(telemetry.count('reply-late')).toBe(1);
    },
  );

  it('raises the event of a step that only a newer build knows, if the record is of a newer build too (T41)', async () => {
    await startInstance('A-1.1');
    database.put({ ...advanced(claimed()), workflowVersion: 99 });
    await handleReply(message({ ...reply, stepId: 'newer', requestId: 'A-1.1.newer' }), deps);
    expect(orchestrations.raised.map(({ eventName }) => eventName)).toEqual(['reply.newer']);
  });

  it('counts late replies that the runtime takes without a word (C10, C52, V2)', async () => {
    await startInstance('A-1.1');
    database.put(processedRecord());
    await deps.store.get('A-1');
    for (let count = 0; count < 100; count += 1) await handleReply(message(reply), deps);
    expect(telemetry.count('reply-late')).toBe(100);
    expect(telemetry.alerts).toEqual([]);
  });

  it('lets a fault of the runtime bring the message back', async () => {
    const broken = { ...orchestrations, raiseEvent: () => Promise.reject(new TransientError('no runtime')) };
    await expect(handleReply(message(reply), { ...deps, orchestrations: broken })).rejects.toBeInstanceOf(
      TransientError,
    );
  });
});
