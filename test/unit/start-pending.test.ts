import { beforeEach, describe, expect, it } from 'vitest';
import { startNow, startOrder, startPending } from '../../functions/scheduler/start-pending.js';
import type { StarterPolicy, StarterRunDeps } from '../../functions/scheduler/start-pending.js';
import { PermanentError, TransientError } from '../../functions/state/errors.js';
import type { Orchestrations, StateStore } from '../../functions/state/ports.js';
import type { StateRecord } from '../../functions/state/state-record.js';
import { advanced, aRecord, claimed, compensatingRecord, processedRecord } from '../support/builders.js';
import { addMs } from '../../functions/contracts/timestamp.js';
import { seededRandom } from '../support/faulty.js';
import { createManualClock, startOfTime } from '../support/manual-clock.js';
import { createMemoryStateDatabase, createMemoryStateStore } from '../support/memory-stores.js';
import type { MemoryStateDatabase } from '../support/memory-stores.js';
import {
  createRecordingOrchestrations,
  createRecordingSender,
  createRecordingTelemetry,
} from '../support/recording.js';

const policy: StarterPolicy = {
  claimLeaseMs: 10_000,
  releaseBackoffMs: 1_000,
  pageSize: 3,
  maxPerRun: 100,
  concurrency: 2,
  normalShare: 0.25,
};

let database: MemoryStateDatabase;
let deps: StarterRunDeps & {
  readonly orchestrations: ReturnType<typeof createRecordingOrchestrations>;
  readonly telemetry: ReturnType<typeof createRecordingTelemetry>;
};

beforeEach(() => {
  database = createMemoryStateDatabase();
  deps = {
    store: createMemoryStateStore(database),
    clock: createManualClock(),
    sender: createRecordingSender(),
    telemetry: createRecordingTelemetry(),
    orchestrations: createRecordingOrchestrations(),
    random: seededRandom(1),
    debt: { toNormal: 0 },
    policy,
  };
});

function waiting(orderId: string, fields: Partial<StateRecord> = {}): void {
  database.put({ ...aRecord(), id: orderId, orderId, ...fields });
}

const run = (capacity = 1_000, changes: Partial<StarterPolicy> = {}): ReturnType<typeof startPending> =>
  startPending(capacity, { ...deps, policy: { ...policy, ...changes } });

describe('a run of the starter', () => {
  it('claims what waits and starts its attempt under the claimed id (P1, R84–R86)', async () => {
    waiting('A-1');
    expect(await run()).toMatchObject({ started: 1, lost: 0, released: 0, failed: 0 });
    expect(deps.orchestrations.started).toEqual(['A-1.1']);
    expect(database.record('A-1')).toMatchObject({ processState: 'Processing', lockedBy: 'A-1.1', attempt: 1 });
  });

  it('starts only after the claim is written (P1)', async () => {
    waiting('A-1');
    let ownerAtStart: string | null = null;
    const watched = {
      ...deps.orchestrations,
      start: (...started: Parameters<Orchestrations['start']>) => {
        ownerAtStart = database.record('A-1').lockedBy;
        return deps.orchestrations.start(...started);
      },
    };
    await startPending(10, { ...deps, orchestrations: watched });
    expect(ownerAtStart).toBe('A-1.1');
  });

  it('takes the longest due first, over pages (T9)', async () => {
    for (const number of [5, 3, 1, 4, 2]) waiting(`A-${number}`, { notBefore: addMs(startOfTime, number - 10) });
    await run(1_000, { concurrency: 1 });
    expect(deps.orchestrations.started).toEqual(['A-1.1', 'A-2.1', 'A-3.1', 'A-4.1', 'A-5.1']);
  });

  it('leaves what is not due, owned or finished alone', async () => {
    waiting('later', { notBefore: addMs(startOfTime, 1) });
    database.put({ ...claimed(), id: 'owned', orderId: 'owned' });
    database.put({ ...processedRecord(), id: 'done', orderId: 'done' });
    expect(await run()).toMatchObject({ started: 0, lost: 0 });
  });

  it('takes undo first, whatever the room for new orders (T74)', async () => {
    waiting('A-1');
    database.put({ ...compensatingRecord(), id: 'B-1', orderId: 'B-1' });
    expect(await run(0)).toMatchObject({ started: 1 });
    expect(deps.orchestrations.started).toEqual(['B-1.2']);
    expect(database.record('B-1').processState).toBe('Compensating');
  });

  it('starts at most as many as a run and the room allow (R51, T10)', async () => {
    for (let number = 0; number < 20; number += 1) waiting(`A-${number}`);
    expect(await run(7)).toMatchObject({ started: 7 });
    expect(await run(1_000, { maxPerRun: 5 })).toMatchObject({ started: 5 });
    expect(deps.orchestrations.started).toHaveLength(12);
  });

  it('takes high priority first and leaves normal orders their share (R63, T9)', async () => {
    for (let number = 0; number < 10; number += 1) {
      waiting(`high-${number}`, { priority: 'high' });
      waiting(`normal-${number}`);
    }
    await run(8);
    const high = deps.orchestrations.started.filter((id) => id.startsWith('high'));
    expect(high).toHaveLength(6);
    expect(deps.orchestrations.started).toHaveLength(8);
    expect(deps.orchestrations.started.slice(0, 6)).toEqual(high);
  });

  it('leaves normal orders their share over many runs with room for one (R63)', async () => {
    for (let number = 0; number < 8; number += 1) {
      waiting(`high-${number}`, { priority: 'high' });
      waiting(`normal-${number}`);
    }
    for (let count = 0; count < 8; count += 1) await run(1);
    const priorities = deps.orchestrations.started.map((id) => id.split('-')[0]);
    expect(priorities).toEqual(['high', 'high', 'high', 'normal', 'high', 'high', 'high', 'normal']);
  });

  it('owes normal orders nothing for runs in which no high priority was in their way (R63)', async () => {
    for (let count = 0; count < 3; count += 1) await run(1);
    waiting('high', { priority: 'high' });
    waiting('normal');
    await run(1);
    expect(deps.orchestrations.started).toEqual(['high.1']);
  });

  it('gives the room that one priority does not use to the other', async () => {
    for (let number = 0; number < 10; number += 1) waiting(`high-${number}`, { priority: 'high' });
    expect(await run(8)).toMatchObject({ started: 8 });
  });

  it('says how long the oldest has been due (T7)', async () => {
    waiting('A-1', { notBefore: addMs(startOfTime, -70_000) });
    waiting('A-2');
    expect(await run()).toMatchObject({ oldestPendingMs: 70_000 });
  });

  it('names documents it can’t read and goes on (C42)', async () => {
    database.put({ ...aRecord(), id: 'bad', orderId: 'bad', failureCount: -1 });
    waiting('good');
    expect(await run()).toMatchObject({ started: 1 });
    expect(deps.telemetry.alerts).toHaveLength(1);
    expect(deps.telemetry.alerts[0]?.fields).toMatchObject({ orderId: 'bad' });
  });

  it('run five times over starts an order once (C56)', async () => {
    waiting('A-1');
    for (let count = 0; count < 5; count += 1) await run();
    expect(deps.orchestrations.started).toEqual(['A-1.1']);
  });

  it('twice at the same time starts an order once (R87, C15)', async () => {
    for (let number = 0; number < 8; number += 1) waiting(`A-${number}`);
    const other = { ...deps, store: createMemoryStateStore(database), policy };
    await Promise.all([run(), startPending(1_000, other)]);
    expect([...new Set(deps.orchestrations.started)]).toHaveLength(8);
    for (let number = 0; number < 8; number += 1) expect(database.record(`A-${number}`).attempt).toBe(1);
  });

  it('shares a backlog with three others: together they start all of it and waste few claims (P6)', async () => {
    for (let number = 0; number < 600; number += 1)
      waiting(`A-${number}`, { notBefore: addMs(startOfTime, number - 600) });
    const starters = Array.from({ length: 4 }, (_, index) =>
      startPending(1_000, {
        ...deps,
        store: createMemoryStateStore(database),
        random: seededRandom(index + 1),
        policy: { ...policy, pageSize: 20, maxPerRun: 1_000, normalShare: 1, concurrency: 4 },
      }),
    );
    const runs = await Promise.all(starters);
    expect(new Set(deps.orchestrations.started)).toHaveProperty('size', 600);
    const lost = runs.reduce((sum, one) => sum + one.lost, 0);
    expect(lost / (lost + 600)).toBeLessThanOrEqual(0.1);
  });
});

describe('an order that can’t be started', () => {
  function storeFailing(orderId: string, error: Error): StateStore {
    return {
      ...deps.store,
      replaceIfUnchanged: (record, etag) =>
        record.orderId === orderId ? Promise.reject(error) : deps.store.replaceIfUnchanged(record, etag),
    };
  }

  it.each([
    ['for good', new PermanentError('Cosmos413', 'too large'), 1],
    ['for now', new TransientError('throttled'), 0],
  ])('%s does not keep the others waiting (P5, T60, C38, C41)', async (_how, error, alerts) => {
    for (const orderId of ['A-1', 'A-2', 'A-3', 'A-4']) waiting(orderId, { notBefore: addMs(startOfTime, -1) });
    const outcome = await startPending(10, { ...deps, store: storeFailing('A-1', error) });
    expect(outcome).toMatchObject({ started: 3, failed: 1 });
    expect(deps.telemetry.alerts).toHaveLength(alerts);
    expect(database.record('A-1')).toMatchObject({ processState: 'Pending', failureCount: 0 });
  });
});

describe('an order that fails for good at the head of the queue', () => {
  it('takes no place from the others, and is alerted once over many runs (T60)', async () => {
    for (const [index, orderId] of ['broken', 'next', 'last'].entries()) {
      waiting(orderId, { notBefore: addMs(startOfTime, index - 10) });
    }
    const store: StateStore = {
      ...deps.store,
      replaceIfUnchanged: (record, etag) =>
        record.orderId === 'broken'
          ? Promise.reject(new PermanentError('Cosmos413', 'too large'))
          : deps.store.replaceIfUnchanged(record, etag),
    };
    for (let count = 0; count < 5; count += 1) await startPending(1, { ...deps, store });
    expect(deps.orchestrations.started).toEqual(['next.1', 'last.1']);
    expect(deps.telemetry.count('start-impossible')).toBe(1);
  });
});

describe('a start', () => {
  it('that is refused for certain is released, counts no failure and ends the run (P3)', async () => {
    deps.orchestrations.answerStarts('refused');
    for (const orderId of ['A-1', 'A-2', 'A-3']) waiting(orderId);
    expect(await run(1_000, { concurrency: 1 })).toMatchObject({ started: 0, released: 1 });
    expect(database.record('A-1')).toMatchObject({
      processState: 'Pending',
      lockedBy: null,
      attempt: 1,
      failureCount: 0,
      notBefore: addMs(startOfTime, policy.releaseBackoffMs),
    });
    expect(database.record('A-2').attempt).toBe(0);
  });

  it('that is refused, although the attempt runs already, takes nothing away from it (P2)', async () => {
    waiting('A-1');
    const orchestrations: Orchestrations = {
      ...deps.orchestrations,
      start: () => {
        database.put(advanced(database.record('A-1')));
        return Promise.resolve('refused');
      },
    };
    expect(await startPending(10, { ...deps, orchestrations })).toMatchObject({ started: 1, released: 0 });
    expect(database.record('A-1')).toMatchObject({ processState: 'Processing', lockedBy: 'A-1.1' });
  });

  it.each(['lostAcknowledgement', 'unavailable'] as const)(
    'of unknown outcome (%s) is never taken back (P2, T3)',
    async (how) => {
      deps.orchestrations.answerStarts(how);
      waiting('A-1');
      await run();
      expect(database.record('A-1')).toMatchObject({ processState: 'Processing', lockedBy: 'A-1.1' });
      expect(database.record('A-1').completeBy).not.toBeNull();
      expect(deps.telemetry.count('start-unknown')).toBe(1);
    },
  );

  it('of an attempt that another starter has claimed happens only if the runtime does not know it (P4, T5, C22)', async () => {
    database.put(claimed());
    expect(await startOrder(aRecord(), deps)).toBe('started');
    expect(deps.orchestrations.calls).toEqual(['instanceState A-1.1', 'start A-1.1']);
    expect(await startOrder(aRecord(), deps)).toBe('lost');
    expect(deps.orchestrations.started).toEqual(['A-1.1']);
  });

  it('of an attempt that has ended never happens again (T4, C22)', async () => {
    database.put(processedRecord());
    expect(await startOrder(aRecord(), deps)).toBe('lost');
    expect(deps.orchestrations.calls).toEqual([]);
  });

  it('is counted once although two starters claimed the same attempt', async () => {
    waiting('A-1');
    const other = { ...deps, store: createMemoryStateStore(database) };
    const record = aRecord();
    await startOrder(record, deps);
    await startOrder(record, other);
    expect(deps.telemetry.count('attempt-claimed')).toBe(1);
  });
});

describe('the eager start', () => {
  it('starts the order at once', async () => {
    waiting('A-1');
    await startNow('A-1', deps);
    expect(deps.orchestrations.started).toEqual(['A-1.1']);
  });

  it('never fails: the starter’s next run is the guarantee', async () => {
    waiting('A-1');
    const store = { ...deps.store, get: () => Promise.reject(new TransientError('no store')) };
    await expect(startNow('A-1', { ...deps, store })).resolves.toBeUndefined();
    expect(deps.telemetry.count('eager-start-failed')).toBe(1);
    await expect(startNow('unknown', deps)).resolves.toBeUndefined();
  });
});
