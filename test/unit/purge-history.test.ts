import { beforeEach, describe, expect, it } from 'vitest';
import { addMs } from '../../functions/contracts/timestamp.js';
import { purgeHistory } from '../../functions/scheduler/purge-history.js';
import { TransientError } from '../../functions/state/errors.js';
import { createManualClock, startOfTime } from '../support/manual-clock.js';
import type { ManualClock } from '../support/manual-clock.js';
import { createMemoryJobs } from '../support/memory-jobs.js';
import type { MemoryJobs } from '../support/memory-jobs.js';
import { createRecordingOrchestrations, createRecordingTelemetry } from '../support/recording.js';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const retentionDays = 7;
const retained = (ms = 0): string => addMs(startOfTime, ms - retentionDays * dayMs);

let clock: ManualClock;
let jobs: MemoryJobs;
let telemetry: ReturnType<typeof createRecordingTelemetry>;

beforeEach(() => {
  clock = createManualClock();
  jobs = createMemoryJobs();
  telemetry = createRecordingTelemetry();
});

/** A runtime that times out on more than `most` instances; `instances` are the times at which they were started. */
function runtimeWith(instances: readonly string[], most: number) {
  let left = [...instances];
  const calls: string[] = [];
  const purgeFinished = (startedBefore: string): Promise<number> => {
    calls.push(startedBefore);
    clock.advance(1_000);
    const purged = left.filter((startedAt) => startedAt < startedBefore);
    if (purged.length > most) return Promise.reject(new TransientError('timed out'));
    left = left.filter((startedAt) => startedAt >= startedBefore);
    return Promise.resolve(purged.length);
  };
  return { calls, left: () => left, runtime: { ...createRecordingOrchestrations(), purgeFinished } };
}

const purge = (orchestrations: ReturnType<typeof runtimeWith>['runtime']): Promise<void> =>
  purgeHistory({ orchestrations, jobs, clock, telemetry, retentionDays });

/** The fields of the last report. */
const lastReport = () => telemetry.events.filter(({ name }) => name === 'history-purged').at(-1)?.fields;

describe('the purge of finished attempts', () => {
  it('goes hour by hour from the oldest up to the retention (C103, T79)', async () => {
    await jobs.write('history-purge', { purgedBefore: retained(-2.5 * hourMs) });
    const { calls, runtime } = runtimeWith([], 100);
    await purge(runtime);
    expect(calls).toEqual([retained(-1.5 * hourMs), retained(-0.5 * hourMs), retained()]);
    expect(jobs.stored.get('history-purge')).toEqual({ purgedBefore: retained() });
  });

  it('takes only the newest hours in later runs, whichever process runs them', async () => {
    await jobs.write('history-purge', { purgedBefore: retained() });
    clock.advance(hourMs);
    const { calls, runtime } = runtimeWith([], 100);
    await purge(runtime);
    expect(calls).toEqual([retained(hourMs)]);
  });

  it('purges a whole backlog over several runs, however long it was not run', async () => {
    await jobs.write('history-purge', { purgedBefore: retained(-400 * hourMs) });
    const instances = Array.from({ length: 400 }, (_, hour) => retained((hour - 400) * hourMs));
    const { calls, left, runtime } = runtimeWith(instances, 2);
    await purge(runtime);
    expect(calls.length).toBeLessThan(400);
    for (let count = 0; count < 3; count += 1) await purge(runtime);
    expect(left()).toEqual([]);
  });

  it('also purges an attempt that had not finished when its hour was purged', async () => {
    await jobs.write('history-purge', { purgedBefore: retained() });
    clock.advance(hourMs);
    const { left, runtime } = runtimeWith([retained(-20 * dayMs)], 100);
    await purge(runtime);
    expect(left()).toEqual([]);
  });

  it('takes less at once when an hour is too much for the runtime', async () => {
    await jobs.write('history-purge', { purgedBefore: retained(-hourMs) });
    const instances = Array.from({ length: 60 }, (_, minute) => retained(minute * 60_000 - hourMs));
    const { left, runtime } = runtimeWith(instances, 20);
    await purge(runtime);
    expect(left()).toEqual([]);
    expect(lastReport()).toMatchObject({ purged: 60, isBehind: false });
  });

  it('reports that it is behind, and keeps its place, while the runtime answers nothing', async () => {
    await jobs.write('history-purge', { purgedBefore: retained(-3 * dayMs) });
    const { calls, runtime } = runtimeWith([retained(-4 * dayMs)], 0);
    await purge(runtime);
    expect(calls.length).toBeLessThan(10);
    expect(jobs.stored.get('history-purge')).toEqual({ purgedBefore: retained(-3 * dayMs) });
    expect(lastReport()).toMatchObject({ purged: 0, isBehind: true });
  });
});
