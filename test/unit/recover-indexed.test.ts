import { beforeEach, describe, expect, it } from 'vitest';
import { addMs } from '../../functions/contracts/timestamp.js';
import type { Timestamp } from '../../functions/contracts/timestamp.js';
import type { RecoveryIndex } from '../../functions/state/ports.js';
import { recoverExpired } from '../../functions/supervisor/recover-expired.js';
import { emptyMemory, keepMemory, recallMemory } from '../../functions/supervisor/supervisor-memory.js';
import { claimed } from '../support/builders.js';
import { createSupervisorWorld, now, policy } from '../support/supervisor-world.js';

let { database, deps, expired } = createSupervisorWorld();

beforeEach(() => {
  ({ database, deps, expired } = createSupervisorWorld());
});

describe('a run with a recovery index', () => {
  const indexOf = (...orderIds: string[]): RecoveryIndex => ({
    note: () => Promise.resolve(),
    due: async function* () {
      yield await Promise.resolve(orderIds);
    },
  });

  const scannedAt = (at: Timestamp): Promise<void> => keepMemory({ ...emptyMemory(), scannedAt: at }, deps.jobs);

  it('takes what the index brings if the record agrees, and goes on when one record can’t be read (V4, R108, T69)', async () => {
    expired('A-1', 10_000);
    expired('alive', -10_000);
    database.put({ ...claimed(), id: 'bad', orderId: 'bad', processState: 'Sleeping' });
    await scannedAt(now);
    const outcome = await recoverExpired({ ...deps, index: indexOf('bad', 'alive', 'unknown', 'A-1') });
    expect(outcome).toMatchObject({ recovered: 1, failed: 1, lost: 0 });
    expect(database.record('alive').failureCount).toBe(0);
  });

  it('still scans everything in its time: the index is a hint (V3)', async () => {
    expired('A-1', 10_000);
    await scannedAt(addMs(now, -59_999));
    expect(await recoverExpired({ ...deps, index: indexOf() })).toMatchObject({ recovered: 0 });
    await scannedAt(addMs(now, -60_000));
    expect(await recoverExpired({ ...deps, index: indexOf() })).toMatchObject({ recovered: 1 });
    expect(await recallMemory(deps.jobs)).toMatchObject({ scannedAt: now });
  });

  it('scans again next time when there was no room for all of it (V3)', async () => {
    for (const orderId of ['A-1', 'A-2', 'A-3']) expired(orderId, 10_000);
    const poor = { ...deps, index: indexOf(), policy: { ...policy, maxPerRun: 2 } };
    expect(await recoverExpired(poor)).toMatchObject({ recovered: 2 });
    expect(await recoverExpired(poor)).toMatchObject({ recovered: 1 });
  });

  it('leaves room for what the index does not know (V3, T69)', async () => {
    for (let number = 0; number < 12; number += 1) expired(`A-${number}`, 10_000);
    expired('unknown', 200_000_000);
    const index = indexOf(...Array.from({ length: 12 }, (_, number) => `A-${number}`));
    await recoverExpired({ ...deps, index, policy: { ...policy, maxPerRun: 8 } });
    expect(database.record('unknown').failureCount).toBe(1);
  });

  it('is bounded as any other (V1)', async () => {
    for (const orderId of ['A-1', 'A-2', 'A-3']) expired(orderId, 10_000);
    const index = indexOf('A-1', 'A-2', 'A-3');
    const outcome = await recoverExpired({
      ...deps,
      index,
      policy: { ...policy, maxPerRun: 2 },
    });
    expect(outcome).toMatchObject({ recovered: 2 });
  });
});
