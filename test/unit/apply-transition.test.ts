import { beforeEach, describe, expect, it } from 'vitest';
import { addMs } from '../../functions/contracts/timestamp.js';
import { claim } from '../../functions/state/attempt-transitions.js';
import { recover } from '../../functions/state/recovery-transitions.js';
import { TransientError } from '../../functions/state/errors.js';
import type { QueueSender, StateStore, VersionedRecord } from '../../functions/state/ports.js';
import type { StateRecord } from '../../functions/state/state-record.js';
import { advance } from '../../functions/state/step-transitions.js';
import { applyTransition, sweepOutbox } from '../../functions/status/apply-transition.js';
import type { TransitionDeps, TransitionResult } from '../../functions/status/apply-transition.js';
import {
  aRecord,
  advanced,
  advanceInput,
  claimed,
  claimLeaseMs,
  failedRecord,
  recoveryPolicy,
  replyTo,
  workflowV1,
} from '../support/builders.js';
import { faultAt, faultyStore } from '../support/faulty.js';
import type { Fault } from '../support/faulty.js';
import { createManualClock, startOfTime } from '../support/manual-clock.js';
import { createMemoryStateDatabase, createMemoryStateStore } from '../support/memory-stores.js';
import type { MemoryStateDatabase } from '../support/memory-stores.js';
import { createRecordingSender, createRecordingTelemetry } from '../support/recording.js';

const statusQueue = 'status-web-shop';

let database: MemoryStateDatabase;
let store: StateStore;
let clock: ReturnType<typeof createManualClock>;
let sender: ReturnType<typeof createRecordingSender>;
let telemetry: ReturnType<typeof createRecordingTelemetry>;

beforeEach(() => {
  database = createMemoryStateDatabase();
  store = createMemoryStateStore(database);
  clock = createManualClock();
  sender = createRecordingSender();
  telemetry = createRecordingTelemetry();
});

function deps(overrides: Partial<TransitionDeps> = {}): TransitionDeps {
  return { store, clock, sender, telemetry, ...overrides };
}

function withWriteFaults(faults: Readonly<Record<number, Fault>>): TransitionDeps {
  return deps({ store: faultyStore(store, faultAt('replaceIfUnchanged', faults)) });
}

const claimOnce = (using: TransitionDeps, attempt = 1): Promise<TransitionResult> =>
  applyTransition(using, 'A-1', claim, { attempt, claimLeaseMs });

function advanceOnce(
  using: TransitionDeps,
  record: StateRecord,
  reply = replyTo(record, 'failed'),
): Promise<TransitionResult> {
  return applyTransition(using, 'A-1', advance, advanceInput(record, reply));
}

describe('applyTransition', () => {
  it('writes what the rule decides', async () => {
    database.put(aRecord());
    const result = await claimOnce(deps());
    expect(result).toMatchObject({ kind: 'applied', repeated: false, record: { lockedBy: 'A-1.1' } });
    expect(database.record('A-1')).toMatchObject({ processState: 'Processing', lockedBy: 'A-1.1' });
  });

  it('answers that an order is missing', async () => {
    expect(await claimOnce(deps())).toEqual({ kind: 'missing' });
  });

  it('answers why the rule does not hold, and writes nothing', async () => {
    database.put(failedRecord());
    expect(await claimOnce(deps(), 2)).toMatchObject({ kind: 'refused', reason: 'notClaimable' });
    expect(database.record('A-1')).toEqual(failedRecord());
  });

  it('lets one of two competing claims win; the other recognises the same attempt (R87, T5)', async () => {
    database.put(aRecord());
    const other = deps({ store: createMemoryStateStore(database) });
    await Promise.all([other.store.get('A-1'), store.get('A-1')]);
    expect(await claimOnce(deps())).toMatchObject({ kind: 'applied', repeated: false });
    expect(await claimOnce(other)).toMatchObject({ kind: 'applied', repeated: true });
    expect(database.record('A-1').attempt).toBe(1);
  });

  it('does not believe a remembered version that says no', async () => {
    database.put(failedRecord());
    await store.get('A-1');
    database.put(aRecord());
    expect(await claimOnce(deps())).toMatchObject({ kind: 'applied' });
  });

  it('pays a remembered version that is stale with one conflict, not with a wrong write (C23)', async () => {
    database.put(claimed());
    await store.get('A-1');
    const taken = { ...claimed(), lockedBy: 'A-1.2', attempt: 2 };
    database.put(taken);
    const result = await applyTransition(deps(), 'A-1', advance, advanceInput(claimed()));
    expect(result).toMatchObject({ kind: 'refused', reason: 'superseded' });
    expect(database.record('A-1')).toEqual(taken);
  });

  it('keeps fields of a newer build when it writes (T41)', async () => {
    database.put({ ...aRecord(), futureField: 7 });
    await claimOnce(deps());
    expect(database.record('A-1')).toMatchObject({ lockedBy: 'A-1.1', futureField: 7 });
  });

  it('recognises its own write when the acknowledgement was lost (I2, T34, T43, C16)', async () => {
    database.put(aRecord());
    const using = withWriteFaults({ 0: 'lostAcknowledgement' });
    expect(await claimOnce(using)).toMatchObject({ kind: 'applied', repeated: true, record: { attempt: 1 } });
  });

  it('counts a failure once although the acknowledgement of the recovery was lost (T37)', async () => {
    const running = advanced(claimed());
    database.put(running);
    const { completeBy, lockedBy } = running;
    clock.set(addMs(completeBy ?? '', 60_000));
    const using = withWriteFaults({ 0: 'lostAcknowledgement' });
    const input = {
      observedLockedBy: lockedBy,
      observedCompleteBy: completeBy,
      instance: 'timedOut',
      workflow: workflowV1,
      policy: recoveryPolicy,
    } as const;
    const recoverOnce = (): Promise<TransitionResult> =>
      applyTransition(using, 'A-1', recover, { ...input, jitter: 0 });
    expect(await recoverOnce()).toMatchObject({ kind: 'applied', repeated: true });
    expect(await recoverOnce()).toMatchObject({ kind: 'refused' });
    expect(database.record('A-1').failureCount).toBe(1);
  });

  it('tries again after a conflict that changed nothing that matters', async () => {
    database.put(aRecord());
    expect(await claimOnce(withWriteFaults({ 0: 'conflict', 1: 'conflict' }))).toMatchObject({ kind: 'applied' });
  });

  it('gives up for now when the store takes no write and does not say so', async () => {
    database.put(aRecord());
    const silent = deps({
      store: { ...store, replaceIfUnchanged: () => Promise.reject(new TransientError('no answer')) },
    });
    await expect(claimOnce(silent)).rejects.toBeInstanceOf(TransientError);
    expect(database.record('A-1')).toEqual(aRecord());
  });

  it('gives up for now when the record keeps changing', async () => {
    database.put(aRecord());
    const always = deps({ store: { ...store, replaceIfUnchanged: () => Promise.resolve({ kind: 'conflict' }) } });
    await expect(claimOnce(always)).rejects.toBeInstanceOf(TransientError);
  });
});

describe('the outbox of a changed record', () => {
  it('is sent by whoever makes the next transition, and removed by the same write (O1)', async () => {
    database.put(aRecord());
    await claimOnce(deps());
    expect(sender.queued(statusQueue).map(({ messageId }) => messageId)).toEqual(['A-1.1']);
    expect(database.record('A-1')).toMatchObject({ outbox: [], outboxSince: null, outboxSeq: 1 });
  });

  it('keeps its status when the write meets a conflict, and sends it again under the same id (O2, T53)', async () => {
    database.put(aRecord());
    await claimOnce(withWriteFaults({ 0: 'conflict' }));
    expect(sender.sent.map(({ messageId }) => messageId)).toEqual(['A-1.1', 'A-1.1']);
    expect(sender.queued(statusQueue)).toHaveLength(1);
  });

  it('costs a terminal state one more write and is empty then', async () => {
    database.put(advanced(claimed()));
    await advanceOnce(deps(), advanced(claimed()));
    expect(database.record('A-1')).toMatchObject({ processState: 'Error', outbox: [], outboxSince: null });
    expect(sender.queued(statusQueue).map(({ messageId }) => messageId)).toEqual(['A-1.1', 'A-1.2']);
  });

  it.each(['transient', 'permanent'] as const)(
    'waits when the queue has a %s fault; the order goes on (O3, T55, C24)',
    async (how) => {
      sender.fail(how);
      database.put(aRecord());
      expect(await claimOnce(deps())).toMatchObject({ kind: 'applied', record: { lockedBy: 'A-1.1' } });
      expect(database.record('A-1').outbox).toHaveLength(1);
      expect(telemetry.count('status-undeliverable')).toBe(1);
    },
  );

  it('stays in the outbox when the write that removes it meets a conflict (O1, C52)', async () => {
    database.put(advanced(claimed()));
    await advanceOnce(withWriteFaults({ 1: 'conflict' }), advanced(claimed()));
    const seen = (await store.getLatest('A-1')) as VersionedRecord;
    expect(seen.record.outbox).toHaveLength(1);
    const alertsBefore = telemetry.alerts.length;
    expect((await sweepOutbox(withWriteFaults({ 0: 'conflict' }), seen)).outbox).toHaveLength(1);
    expect(telemetry.alerts).toHaveLength(alertsBefore);
  });

  it('that can’t be sent is told by the write that notes it, and by no later one (O4, C52)', async () => {
    sender.fail('permanent');
    database.put(advanced(claimed()));
    await advanceOnce(withWriteFaults({ 0: 'conflict' }), advanced(claimed()));
    await sweepOutbox(deps(), (await store.getLatest('A-1')) as VersionedRecord);
    expect(telemetry.events.filter(({ name }) => name === 'status-undeliverable')).toEqual([
      { name: 'status-undeliverable', fields: { orderId: 'A-1', application: 'web-shop' } },
    ]);
    expect(database.record('A-1').statusUndeliverableAt).toBe(clock.now());
  });

  it('gives a queue that does not answer a bounded time (O3, C24)', async () => {
    const hanging: QueueSender = {
      send: (_queue, _message, signal) =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => {
            reject(new TransientError('took too long'));
          });
        }),
    };
    database.put(aRecord());
    expect(await claimOnce(deps({ sender: hanging }))).toMatchObject({ kind: 'applied' });
    expect(database.record('A-1').outbox).toHaveLength(1);
  });

  it('keeps its status when only the write that removes it fails', async () => {
    database.put(advanced(claimed()));
    const result = await advanceOnce(withWriteFaults({ 1: 'unavailable' }), advanced(claimed()));
    expect(result).toMatchObject({ kind: 'applied', record: { processState: 'Error' } });
    expect(database.record('A-1').outbox.map(({ kind }) => kind)).toEqual(['OrderFailed']);
  });
});

describe('the alert for an order that automation gives up', () => {
  const alerts = (): number => telemetry.count('order-needs-operator');

  it('comes once (C52)', async () => {
    database.put(advanced(claimed()));
    await advanceOnce(deps(), advanced(claimed()));
    await advanceOnce(deps(), advanced(claimed()));
    expect(alerts()).toBe(1);
    expect(telemetry.alerts[0]?.fields).toEqual({ orderId: 'A-1', attempt: 1, processState: 'Error', code: 'Closed' });
  });

  it('comes with the repeat when the acknowledgement of the write was lost', async () => {
    database.put(advanced(claimed()));
    const using = withWriteFaults({ 0: 'lostAcknowledgement' });
    await advanceOnce(using, advanced(claimed()));
    await advanceOnce(using, advanced(claimed()));
    expect(alerts()).toBe(1);
    expect(database.record('A-1').outbox).toEqual([]);
  });

  it('does not come for an order that is processed', async () => {
    const paid = advanced(advanced(advanced(claimed()), {}), {});
    database.put(paid);
    await advanceOnce(deps(), paid, replyTo(paid, 'succeeded'));
    expect(database.record('A-1').processState).toBe('Processed');
    expect(telemetry.alerts).toEqual([]);
  });
});

it('time comes from the clock that is given', async () => {
  clock.set(addMs(startOfTime, 5));
  database.put(aRecord());
  await claimOnce(deps());
  expect(database.record('A-1').updatedAt).toBe(addMs(startOfTime, 5));
});
