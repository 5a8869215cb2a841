/** A supervisor over stores in memory, an hour after the start of time. */
import { addMs } from '../../functions/contracts/timestamp.js';
import type { StateRecord } from '../../functions/state/state-record.js';
import { recoverExpired } from '../../functions/supervisor/recover-expired.js';
import type { SupervisorDeps, SupervisorPolicy, SupervisorRun } from '../../functions/supervisor/supervisor-run.js';
import { advanced, claimed, recoveryPolicy } from './builders.js';
import { createManualClock, startOfTime } from './manual-clock.js';
import { createMemoryJobs } from './memory-jobs.js';
import { createMemoryStateDatabase, createMemoryStateStore } from './memory-stores.js';
import type { MemoryStateDatabase } from './memory-stores.js';
import { createRecordingSender, createRecordingTelemetry } from './recording.js';
import type { RecordingSender, RecordingTelemetry } from './recording.js';

/** The supervisor's present. */
export const now = addMs(startOfTime, 3_600_000);

/** Settings of the supervisor, small enough to be reached. */
export const policy: SupervisorPolicy = {
  ...recoveryPolicy,
  windowMs: 60_000,
  pageSize: 3,
  maxPerRun: 100,
  concurrency: 2,
  maxRequestCharge: 1_000,
  scanEveryMinutes: 1,
};

/** What a test of the supervisor has at hand. */
export interface SupervisorWorld {
  readonly database: MemoryStateDatabase;
  readonly sender: RecordingSender;
  readonly telemetry: RecordingTelemetry;
  readonly deps: SupervisorDeps;
  /** One run, with these settings instead of the usual ones. */
  readonly run: (changes?: Partial<SupervisorPolicy>) => Promise<SupervisorRun>;
  /** Stores an owned record whose deadline passed so long ago. */
  readonly expired: (orderId: string, agoMs: number, fields?: Partial<StateRecord>) => void;
}

/** Creates a world without records. */
export function createSupervisorWorld(): SupervisorWorld {
  const database = createMemoryStateDatabase();
  const sender = createRecordingSender();
  const telemetry = createRecordingTelemetry();
  const deps: SupervisorDeps = {
    store: createMemoryStateStore(database),
    clock: createManualClock(now),
    sender,
    telemetry,
    random: () => 0.5,
    policy,
    jobs: createMemoryJobs(),
  };
  return {
    database,
    sender,
    telemetry,
    deps,
    run: (changes = {}) => recoverExpired({ ...deps, policy: { ...policy, ...changes } }),
    expired: (orderId, agoMs, fields = {}) => {
      const owned = { ...advanced(claimed()), id: orderId, orderId, lockedBy: `${orderId}.1` };
      const expiresAt = addMs(now, 1_000_000);
      database.put({ ...owned, expiresAt, completeBy: addMs(now, -agoMs), ...fields });
    },
  };
}
