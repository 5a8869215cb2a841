import { beforeEach, describe, expect, it } from 'vitest';
import { addMs } from '../../functions/contracts/timestamp.js';
import { runStarter } from '../../functions/scheduler/run-starter.js';
import type { Admission } from '../../functions/state/admission.js';
import { hasBegun } from '../../functions/state/own-requests.js';
import { advanced, aRecord, claimed, compensatingRecord } from '../support/builders.js';
import { createManualClock, startOfTime } from '../support/manual-clock.js';
import type { ManualClock } from '../support/manual-clock.js';
import { createMemoryJobs } from '../support/memory-jobs.js';
import type { MemoryJobs } from '../support/memory-jobs.js';
import { createMemoryStateDatabase, createMemoryStateStore } from '../support/memory-stores.js';
import type { MemoryStateDatabase } from '../support/memory-stores.js';
import {
  createRecordingOrchestrations,
  createRecordingSender,
  createRecordingTelemetry,
} from '../support/recording.js';

let database: MemoryStateDatabase;
let clock: ManualClock;
let telemetry: ReturnType<typeof createRecordingTelemetry>;
let jobs: MemoryJobs;

beforeEach(() => {
  database = createMemoryStateDatabase();
  clock = createManualClock();
  telemetry = createRecordingTelemetry();
  jobs = createMemoryJobs();
});

function run(maxInFlight = 10): Promise<void> {
  const common = { store: createMemoryStateStore(database), clock, telemetry };
  const written: { admission?: Admission } = {};
  const admission = {
    readAdmission: () => Promise.resolve(written.admission),
    writeAdmission: (next: Admission) => {
      written.admission = next;
      return Promise.resolve();
    },
    readPause: () => Promise.resolve(undefined),
    changePause: () => Promise.reject(new Error('no operator here')),
  };
  const starter = {
    ...common,
    sender: createRecordingSender(),
    orchestrations: createRecordingOrchestrations(),
    random: () => 0.5,
    policy: {
      claimLeaseMs: 10_000,
      releaseBackoffMs: 1_000,
      pageSize: 10,
      maxPerRun: 10,
      concurrency: 2,
      normalShare: 0.2,
    },
  };
  const limits = { highWater: 100, lowWater: 40, maxInFlight: 10 };
  return runStarter({ admission: { ...common, admission, limits }, starter, jobs, maxInFlight });
}

describe('the starter', () => {
  it('reports once a minute that it runs, whichever process runs it, also when there is nothing to do (T7, C52)', async () => {
    for (let second = 0; second < 180; second += 1) {
      await run();
      clock.advance(1_000);
    }
    expect(telemetry.events.map(({ name }) => name)).toEqual(['starter-run', 'starter-run', 'starter-run']);
  });

  it('claims nothing more while too many attempts have not begun, undo included', async () => {
    for (let number = 0; number < 5; number += 1) database.put(claimed(aRecord({ orderId: `claimed-${number}` })));
    database.put(aRecord({ orderId: 'waiting' }));
    database.put({ ...compensatingRecord(), id: 'undo', orderId: 'undo' });
    await run();
    expect(database.record('waiting').attempt).toBe(0);
    expect(database.record('undo').attempt).toBe(1);

    database.put(advanced(database.record('claimed-0')));
    await run();
    expect(database.record('undo').attempt).toBe(2);
    expect(database.record('waiting').attempt).toBe(0);
  });

  it('says at once what it has found waiting', async () => {
    await run();
    database.put({ ...aRecord(), notBefore: addMs(startOfTime, -5_000) });
    await run();
    const told = telemetry.events.filter(({ name }) => name === 'starter-run');
    expect(told.map(({ fields }) => [fields?.['started'], fields?.['oldestPendingMs']])).toEqual([
      [0, 0],
      [1, 5_000],
    ]);
  });

  it('owes normal orders their share over runs of different processes (R63)', async () => {
    for (let number = 0; number < 12; number += 1) {
      database.put({ ...aRecord(), id: `high-${number}`, orderId: `high-${number}`, priority: 'high' });
      database.put({ ...aRecord(), id: `normal-${number}`, orderId: `normal-${number}` });
    }
    const started = (): readonly string[] =>
      [...database.documents.keys()].filter((id) => database.record(id).attempt === 1);
    for (let inFlight = 0; inFlight < 10; inFlight += 1) {
      await run(inFlight + 1); // Room for one order in each run.
      for (const id of started()) if (!hasBegun(database.record(id))) database.put(advanced(database.record(id)));
    }
    expect(started().filter((id) => id.startsWith('normal'))).toHaveLength(2);
  });

  it('stores nothing in a run that has nothing to remember', async () => {
    await run();
    await run();
    expect(jobs.writes).toBe(1);
  });
});
