import { beforeEach, describe, expect, it } from 'vitest';
import { addMs } from '../../functions/contracts/timestamp.js';
import { PermanentError, TransientError } from '../../functions/state/errors.js';
import type { RecoveryIndex } from '../../functions/state/ports.js';
import type { StateRecord } from '../../functions/state/state-record.js';
import { handleHint } from '../../functions/supervisor/handle-hint.js';
import { recoverExpired } from '../../functions/supervisor/recover-expired.js';
import type { SupervisorDeps, SupervisorPolicy } from '../../functions/supervisor/recover-expired.js';
import {
  advanced,
  claimed,
  compensatingRecord,
  failedRecord,
  processedRecord,
  recoveryPolicy,
} from '../support/builders.js';
import { createManualClock, startOfTime } from '../support/manual-clock.js';
import { createMemoryStateDatabase, createMemoryStateStore } from '../support/memory-stores.js';
import type { MemoryStateDatabase } from '../support/memory-stores.js';
import { createRecordingSender, createRecordingTelemetry } from '../support/recording.js';

const policy: SupervisorPolicy = {
  ...recoveryPolicy,
  windowMs: 60_000,
  pageSize: 3,
  maxPerRun: 100,
  concurrency: 2,
  maxRequestCharge: 1_000,
  scanEveryMinutes: 1,
};

let database: MemoryStateDatabase;
let sender: ReturnType<typeof createRecordingSender>;
let telemetry: ReturnType<typeof createRecordingTelemetry>;
let deps: SupervisorDeps;

beforeEach(() => {
  database = createMemoryStateDatabase();
  sender = createRecordingSender();
  telemetry = createRecordingTelemetry();
  const store = createMemoryStateStore(database);
  deps = {
    store,
    clock: createManualClock(addMs(startOfTime, 3_600_000)),
    sender,
    telemetry,
    random: () => 0.5,
    policy,
    lastScan: { at: undefined },
  };
});

const now = addMs(startOfTime, 3_600_000);

/** An owned record whose deadline passed so long ago. */
function expired(orderId: string, agoMs: number, fields: Partial<StateRecord> = {}): void {
  const record = {
    ...advanced(claimed()),
    id: orderId,
    orderId,
    lockedBy: `${orderId}.1`,
    expiresAt: addMs(now, 1_000_000),
  };
  database.put({ ...record, completeBy: addMs(now, -agoMs), ...fields });
}

const run = (changes: Partial<SupervisorPolicy> = {}): ReturnType<typeof recoverExpired> =>
  recoverExpired({ ...deps, policy: { ...policy, ...changes } });

describe('a run of the supervisor', () => {
  it('asks for the recovery of what has expired, and touches nothing else (R29–R31, R104, R109)', async () => {
    expired('A-1', 10_000);
    expired('alive', -10_000);
    database.put({ ...processedRecord(), id: 'done', orderId: 'done', outbox: [], outboxSince: null });
    expect(await run()).toMatchObject({ recovered: 1, lost: 0, failed: 0 });
    expect(database.record('A-1')).toMatchObject({ processState: 'Pending', lockedBy: null, failureCount: 1 });
    expect(database.record('alive').failureCount).toBe(0);
  });

  // C45
  it.each([
    [-50, 0],
    [1, 0],
    [policy.graceMs, 0],
    [policy.graceMs + 1, 1],
  ])('takes an attempt %d ms past its deadline %d times: only after the grace', async (agoMs, recovered) => {
    expired('A-1', agoMs);
    expect(await run()).toMatchObject({ recovered });
  });

  it('recovers expired undos, too (T74)', async () => {
    const undoing = advanced(claimed(compensatingRecord()));
    database.put({ ...undoing, completeBy: addMs(now, -10_000) });
    expect(await run()).toMatchObject({ recovered: 1 });
    expect(database.record('A-1')).toMatchObject({ processState: 'Compensating', compensationFailureCount: 1 });
  });

  it('finds what is older than its window, and what has no deadline at all (V3, T59, C2, T1)', async () => {
    expired('weekend', 200_000_000);
    expired('null', 0, { completeBy: null, updatedAt: addMs(now, -200_000) });
    expect(await run()).toMatchObject({ recovered: 2 });
    expect(database.record('null')).toMatchObject({ processState: 'Pending', failureCount: 1 });
  });

  it('takes a bounded number and leaves the rest to the next run (V1, R106, C44)', async () => {
    for (let number = 0; number < 10; number += 1) expired(`A-${number}`, 10_000 + number);
    expect(await run({ maxPerRun: 4 })).toMatchObject({ recovered: 4 });
    expect(await run({ maxPerRun: 4 })).toMatchObject({ recovered: 4 });
    expect(await run({ maxPerRun: 4 })).toMatchObject({ recovered: 2 });
  });

  it('recovers a crowd side by side, so many at once as the setting says', async () => {
    for (let number = 0; number < 6; number += 1) expired(`A-${number}`, 10_000 + number);
    const { store } = deps;
    const rounds: number[] = [];
    let inFlight = 0;
    const counting = {
      ...store,
      replaceIfUnchanged: async (...args: Parameters<typeof store.replaceIfUnchanged>) => {
        inFlight += 1;
        rounds.push(inFlight);
        const result = await store.replaceIfUnchanged(...args);
        inFlight -= 1;
        return result;
      },
    };
    const concurrency = 3;
    expect(
      await recoverExpired({ ...deps, store: counting, policy: { ...policy, pageSize: 6, concurrency } }),
    ).toMatchObject({ recovered: 6 });
    expect(rounds).toEqual([1, 2, 3, 1, 2, 3]);
  });

  it('stops when it has cost enough (V1, R107)', async () => {
    for (let number = 0; number < 10; number += 1) expired(`A-${number}`, 10_000 + number);
    const outcome = await run({ maxRequestCharge: 2 });
    expect(outcome.recovered).toBeLessThan(10);
    expect(outcome.requestCharge).toBeGreaterThanOrEqual(2);
  });

  it('takes the oldest first and says how old it was (R58)', async () => {
    expired('young', 10_000);
    expired('old', 50_000);
    expect(await run({ maxPerRun: 1 })).toMatchObject({ recovered: 1, oldestExpiredMs: 50_000 });
    expect(database.record('old').failureCount).toBe(1);
    expect(database.record('young').failureCount).toBe(0);
  });

  it('twice at the same time counts each failure once (V2, R39, C15)', async () => {
    for (let number = 0; number < 8; number += 1) expired(`A-${number}`, 10_000);
    const other = { ...deps, store: createMemoryStateStore(database) };
    const [one, two] = await Promise.all([run(), recoverExpired(other)]);
    expect(one.recovered + two.recovered).toBe(8);
    for (let number = 0; number < 8; number += 1) expect(database.record(`A-${number}`).failureCount).toBe(1);
  });

  it('leaves an attempt that has gone on since it was seen (T35, T36)', async () => {
    expired('A-1', 10_000);
    const { store } = deps;
    const racing = {
      ...store,
      get: (orderId: string) => {
        expired('A-1', -60_000);
        return store.getLatest(orderId);
      },
    };
    expect(await recoverExpired({ ...deps, store: racing })).toMatchObject({ recovered: 0, lost: 1 });
    expect(database.record('A-1')).toMatchObject({ processState: 'Processing', failureCount: 0 });
  });

  it.each([
    ['for now', new TransientError('throttled'), 0],
    ['for good', new PermanentError('Cosmos413', 'too large'), 1],
  ])('goes on when one record fails %s (V4, T60, C38)', async (_how, error, alerts) => {
    for (const orderId of ['A-1', 'A-2', 'A-3']) expired(orderId, orderId === 'A-1' ? 20_000 : 10_000);
    const { store } = deps;
    const failing = {
      ...store,
      replaceIfUnchanged: (record: StateRecord, etag: string) =>
        record.orderId === 'A-1' ? Promise.reject(error) : store.replaceIfUnchanged(record, etag),
    };
    expect(await recoverExpired({ ...deps, store: failing })).toMatchObject({ recovered: 2, failed: 1 });
    expect(telemetry.count('recovery-failed')).toBe(1);
    expect(telemetry.alerts).toHaveLength(alerts);
    expect(database.record('A-1').failureCount).toBe(0);
  });

  it('ends early when the store is throttled, and counts no failure for it (C41)', async () => {
    expired('A-1', 10_000);
    const pageExpired = (): never => {
      throw new TransientError('429');
    };
    await expect(recoverExpired({ ...deps, store: { ...deps.store, pageExpired } })).rejects.toBeInstanceOf(
      TransientError,
    );
    expect(database.record('A-1').failureCount).toBe(0);
  });

  it('names documents it can’t read and goes on (C11, C42)', async () => {
    expired('bad', 20_000, { failureCount: -1 });
    expired('good', 10_000);
    expect(await run()).toMatchObject({ recovered: 1, unreadable: 1 });
    expect(telemetry.alerts[0]?.fields).toMatchObject({ orderId: 'bad' });
  });

  it('alerts once for an order that it gives up, however often it runs (R111, C52)', async () => {
    expired('A-1', 10_000, { failureCount: 2 });
    for (let count = 0; count < 10; count += 1) await run();
    expect(database.record('A-1')).toMatchObject({ processState: 'Error', failureCount: 3 });
    expect(telemetry.count('order-needs-operator')).toBe(1);
  });

  it('says one thing when there is nothing to do: that it has run (C52, T65)', async () => {
    await run();
    expect(telemetry.events.map(({ name }) => name)).toEqual(['supervisor-run']);
    expect(telemetry.alerts).toEqual([]);
  });

  it('spreads the next attempts by jitter (T10)', async () => {
    expired('A-1', 10_000);
    await run();
    expect(database.record('A-1').notBefore).toBe(addMs(now, policy.backoffMs * 1.5));
  });
});

describe('a run with a recovery index', () => {
  const indexOf = (...orderIds: string[]): RecoveryIndex => ({
    note: () => Promise.resolve(),
    due: async function* () {
      yield await Promise.resolve(orderIds);
    },
  });

  it('takes what the index brings if the record agrees, and goes on when one record can’t be read (V4, R108, T69)', async () => {
    expired('A-1', 10_000);
    expired('alive', -10_000);
    database.put({ ...claimed(), id: 'bad', orderId: 'bad', processState: 'Sleeping' });
    const lastScan = { at: now };
    const outcome = await recoverExpired({ ...deps, index: indexOf('bad', 'alive', 'unknown', 'A-1'), lastScan });
    expect(outcome).toMatchObject({ recovered: 1, failed: 1 });
    expect(database.record('alive').failureCount).toBe(0);
  });

  it('still scans everything in its time: the index is a hint (V3)', async () => {
    expired('A-1', 10_000);
    const lastScan = { at: addMs(now, -59_999) };
    expect(await recoverExpired({ ...deps, index: indexOf(), lastScan })).toMatchObject({ recovered: 0 });
    lastScan.at = addMs(now, -60_000);
    expect(await recoverExpired({ ...deps, index: indexOf(), lastScan })).toMatchObject({ recovered: 1 });
    expect(lastScan.at).toBe(now);
  });

  it('is bounded as any other (V1)', async () => {
    for (const orderId of ['A-1', 'A-2', 'A-3']) expired(orderId, 10_000);
    const index = indexOf('A-1', 'A-2', 'A-3');
    const outcome = await recoverExpired({
      ...deps,
      index,
      lastScan: { at: now },
      policy: { ...policy, maxPerRun: 2 },
    });
    expect(outcome).toMatchObject({ recovered: 2 });
  });
});

describe('statuses that a crash has left', () => {
  const unsent = (orderId: string, record: StateRecord, application = 'web-shop'): void => {
    database.put({ ...record, id: orderId, orderId, application });
  };

  it('are sent and removed (T53)', async () => {
    unsent('A-1', processedRecord());
    expect(await run()).toMatchObject({ statusesSwept: 1 });
    expect(sender.queued('status-web-shop').map(({ messageId }) => messageId)).toEqual(['A-1.1', 'A-1.2']);
    expect(database.record('A-1')).toMatchObject({ outbox: [], outboxSince: null });
    expect(await run()).toMatchObject({ statusesSwept: 0 });
  });

  it('bring the alert that may have been lost with them', async () => {
    unsent('A-1', failedRecord());
    await run();
    await run();
    expect(telemetry.count('order-needs-operator')).toBe(1);
  });

  it('of an application whose queue is gone do not keep the others waiting (T55, T60)', async () => {
    sender.fail('permanent', (queue) => queue === 'status-gone');
    for (let number = 0; number < 10; number += 1) unsent(`gone-${number}`, processedRecord(), 'gone');
    unsent('A-1', processedRecord());
    expect(await run()).toMatchObject({ statusesSwept: 1 });
    expect(sender.queued('status-web-shop')).toHaveLength(2);
    expect(telemetry.count('status-undeliverable')).toBe(1);
  });

  it('reach past more orders of such an application than a run takes', async () => {
    sender.fail('permanent', (queue) => queue === 'status-gone');
    for (let number = 0; number < 10; number += 1) unsent(`gone-${number}`, processedRecord(), 'gone');
    unsent('A-1', processedRecord());
    expect(await run({ maxPerRun: 3 })).toMatchObject({ statusesSwept: 1 });
  });

  it('are swept in a bounded number (V1)', async () => {
    for (let number = 0; number < 10; number += 1) unsent(`A-${number}`, processedRecord());
    expect(await run({ maxPerRun: 4 })).toMatchObject({ statusesSwept: 6 });
    expect(await run({ maxPerRun: 4 })).toMatchObject({ statusesSwept: 4 });
  });
});

describe('a hint', () => {
  const hint = (orderId: string): Promise<unknown> => handleHint({ schemaVersion: 1, orderId }, deps);

  it('lets the supervisor look at once at the order it names', async () => {
    expired('A-1', 10_000);
    expect(await hint('A-1')).toBeUndefined();
    expect(database.record('A-1').processState).toBe('Pending');
  });

  it('is only a hint: an order that needs nothing is no error', async () => {
    expired('alive', -10_000);
    for (const orderId of ['alive', 'unknown']) expect(await hint(orderId)).toBeUndefined();
    expect(database.record('alive').failureCount).toBe(0);
  });

  it('that comes twice counts one failure', async () => {
    expired('A-1', 10_000);
    await Promise.all([hint('A-1'), hint('A-1'), run()]);
    expect(database.record('A-1').failureCount).toBe(1);
  });

  it('that breaks its contract is refused', async () => {
    expect(await handleHint('{bad', deps)).toMatchObject({ reason: 'InvalidMessage' });
  });
});
