import { beforeEach, describe, expect, it } from 'vitest';
import { PermanentError, TransientError } from '../../functions/state/errors.js';
import type { StateRecord } from '../../functions/state/state-record.js';
import { recoverExpired } from '../../functions/supervisor/recover-expired.js';
import { createMemoryJobs } from '../support/memory-jobs.js';
import { createMemoryStateStore } from '../support/memory-stores.js';
import { createSupervisorWorld, policy } from '../support/supervisor-world.js';

let { database, deps, expired } = createSupervisorWorld();

beforeEach(() => {
  ({ database, deps, expired } = createSupervisorWorld());
});

describe('a run of the supervisor', () => {
  it('goes on where a run of another process stopped (V3, T60)', async () => {
    for (let number = 0; number < 6; number += 1) expired(`stuck-${number}`, 300_000_000 - number);
    expired('weekend', 200_000_000);
    for (let count = 0; count < 3; count += 1) {
      const store = createMemoryStateStore(database);
      const failing = {
        ...store,
        replaceIfUnchanged: (record: StateRecord, etag: string) =>
          record.orderId.startsWith('stuck')
            ? Promise.reject(new PermanentError('Cosmos413', 'too large'))
            : store.replaceIfUnchanged(record, etag),
      };
      await recoverExpired({ ...deps, store: failing, policy: { ...policy, maxPerRun: 3 } });
    }
    expect(database.record('weekend').failureCount).toBe(1);
  });

  it('works from the beginning when what it remembers cannot be read', async () => {
    expired('A-1', 10_000);
    const jobs = { ...deps.jobs, read: () => Promise.reject(new TransientError('no answer')) };
    expect(await recoverExpired({ ...deps, jobs })).toMatchObject({ recovered: 1, sweepsFailed: 1 });
  });

  it('stores nothing when it has nothing to remember', async () => {
    const jobs = createMemoryJobs();
    expired('A-1', 10_000);
    await recoverExpired({ ...deps, jobs });
    expect(jobs.writes).toBe(0);
  });
});
