import { beforeEach, describe, expect, it } from 'vitest';
import { addMs } from '../../functions/contracts/timestamp.js';
import { PermanentError, TransientError } from '../../functions/state/errors.js';
import type { StateRecord } from '../../functions/state/state-record.js';
import { recoverExpired } from '../../functions/supervisor/recover-expired.js';
import { aRecord, advanced, claimed, compensatingRecord, processedRecord } from '../support/builders.js';
import { createMemoryStateStore } from '../support/memory-stores.js';
import { createSupervisorWorld, now, policy } from '../support/supervisor-world.js';

let { database, deps, expired, run, telemetry } = createSupervisorWorld();

beforeEach(() => {
  ({ database, deps, expired, run, telemetry } = createSupervisorWorld());
});

async function* failingPages(error: Error): AsyncGenerator<never> {
  yield await Promise.reject(error);
}

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

  it('counts what its writes cost as well as what its pages do (R107)', async () => {
    const { requestCharge: idle } = await run();
    expired('A-1', 10_000);
    const { requestCharge } = await run();
    expect(requestCharge - idle).toBe(2); // One page with something in it, one write; each costs 1 in memory.
  });

  it('recovers something even when a page alone costs all it may spend (V1)', async () => {
    expired('A-1', 10_000);
    expect(await run({ maxRequestCharge: 0.1 })).toMatchObject({ recovered: 1 });
  });

  it('leaves a share of each run to what is older than its window, however much expires (V3, T59)', async () => {
    for (let number = 0; number < 20; number += 1) expired(`young-${number}`, 10_000);
    expired('weekend', 200_000_000);
    expect(await run({ maxPerRun: 4 })).toMatchObject({ recovered: 4 });
    expect(database.record('weekend').failureCount).toBe(1);
  });

  it('looks at the window before what is older', async () => {
    expired('young', 10_000);
    expired('weekend', 200_000_000);
    expect(await run({ maxPerRun: 1 })).toMatchObject({ recovered: 1 });
    expect(database.record('young').failureCount).toBe(1);
  });

  it('goes on behind old records that can’t be recovered, and comes back to them (V4, T60)', async () => {
    for (let number = 0; number < 6; number += 1) expired(`stuck-${number}`, 300_000_000 - number);
    expired('weekend', 200_000_000);
    const { store } = deps;
    let isBroken = true;
    const failing = {
      ...store,
      replaceIfUnchanged: (record: StateRecord, etag: string) =>
        isBroken && record.orderId.startsWith('stuck')
          ? Promise.reject(new PermanentError('Cosmos413', 'too large'))
          : store.replaceIfUnchanged(record, etag),
    };
    const runOnce = (): ReturnType<typeof recoverExpired> =>
      recoverExpired({ ...deps, store: failing, policy: { ...policy, maxPerRun: 3 } });
    for (let count = 0; count < 3; count += 1) await runOnce();
    expect(database.record('weekend').failureCount).toBe(1);
    isBroken = false;
    for (let count = 0; count < 3; count += 1) await runOnce();
    expect(database.record('stuck-0').failureCount).toBe(1);
  });

  it('goes on with the first record that it did not reach, though it read it (V3)', async () => {
    for (let number = 0; number < 6; number += 1) expired(`A-${number}`, 300_000_000 - number);
    await run({ maxPerRun: 2, pageSize: 6 });
    await run({ maxPerRun: 2, pageSize: 6 });
    const counts = Array.from({ length: 6 }, (_, number) => database.record(`A-${number}`).failureCount);
    expect(counts).toEqual([1, 1, 1, 1, 0, 0]);
  });

  it('goes on behind old documents that it can’t read (T60, R107)', async () => {
    for (let number = 0; number < 12; number += 1) expired(`bad-${number}`, 300_000_000 - number, { failureCount: -1 });
    expired('weekend', 200_000_000);
    for (let count = 0; count < 8; count += 1) await run({ maxRequestCharge: 2 });
    expect(database.record('weekend').failureCount).toBe(1);
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

  it('counts no failure of an order when the store is throttled, and still reports itself (C41, T65)', async () => {
    expired('A-1', 10_000);
    const throttled = (): AsyncGenerator<never> => failingPages(new TransientError('429'));
    const store = { ...deps.store, pageExpired: throttled, pageUnsent: throttled, pagePending: throttled };
    const outcome = await recoverExpired({ ...deps, store });
    expect(outcome).toMatchObject({ recovered: 0, sweepsFailed: 6 });
    expect(database.record('A-1').failureCount).toBe(0);
    expect(telemetry.count('supervisor-run')).toBe(1);
  });

  it.each(['pageExpired', 'pageWithoutDeadline', 'pageUnsent', 'pagePending'] as const)(
    'does all its other parts and reports itself although %s fails for good (T60, T65)',
    async (broken) => {
      expired('A-1', 10_000);
      expired('old', 200_000_000);
      expired('null', 0, { completeBy: null, updatedAt: addMs(now, -200_000) });
      database.put({ ...processedRecord(), id: 'unsent', orderId: 'unsent' });
      database.put({ ...aRecord(), id: 'waiting', orderId: 'waiting', notBefore: addMs(now, -50_000) });
      const failing = (): AsyncGenerator<never> => failingPages(new PermanentError('Cosmos400', 'bad page'));
      const outcome = await recoverExpired({ ...deps, store: { ...deps.store, [broken]: failing } });
      expect({
        recovered: outcome.recovered,
        swept: outcome.statusesSwept,
        hasSeenWaiting: outcome.oldestPendingMs > 0,
      }).toEqual({
        recovered: { pageExpired: 1, pageWithoutDeadline: 2, pageUnsent: 3, pagePending: 3 }[broken],
        swept: broken === 'pageUnsent' ? 0 : 1,
        hasSeenWaiting: broken !== 'pagePending',
      });
      expect(outcome.sweepsFailed).toBeGreaterThan(0);
      expect(telemetry.count('sweep-failed')).toBe(outcome.sweepsFailed);
      expect(telemetry.count('supervisor-run')).toBe(1);
    },
  );

  it('goes on with the scan when the recovery index fails (T69)', async () => {
    expired('A-1', 10_000);
    const due = (): AsyncGenerator<never> => failingPages(new TransientError('no index'));
    const index = { note: () => Promise.resolve(), due };
    expect(await recoverExpired({ ...deps, index })).toMatchObject({ recovered: 1, sweepsFailed: 1 });
  });

  it('names documents it can’t read, each once, and goes on (C11, C42, C52)', async () => {
    expired('bad', 20_000, { failureCount: -1 });
    expired('good', 10_000);
    expect(await run()).toMatchObject({ recovered: 1, unreadable: 1 });
    expect(await run()).toMatchObject({ unreadable: 1 });
    expect(telemetry.alerts).toHaveLength(1);
    expect(telemetry.alerts[0]?.fields).toMatchObject({ orderId: 'bad' });
  });

  it('alerts once for an order that it gives up, however often it runs (R111, C52)', async () => {
    const steps = advanced(claimed()).steps.map((step) => ({ ...step, failureCount: 2 }));
    expired('A-1', 10_000, { steps, failureCount: 2 });
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
