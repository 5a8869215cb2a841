/** A supervisor over stores in memory, an hour after the start of time. */
import { addMs } from '../../functions/contracts/timestamp.js';
import type { StateRecord } from '../../functions/state/state-record.js';
import { recoverExpired } from '../../functions/supervisor/recover-expired.js';
import type { SupervisorDeps, SupervisorPolicy, SupervisorRun } from '../../functions/supervisor/supervisor-run.js';
import { advanced, aRecord, claimed, recoveryPolicy } from './builders.js';
import { createManualClock, startOfTime } from './manual-clock.js';
import type { ManualClock } from './manual-clock.js';
import { createMemoryJobs } from './memory-jobs.js';
import { createMemoryStateDatabase, createMemoryStateStore } from './memory-stores.js';
import type { MemoryStateDatabase } from './memory-stores.js';
import type { InstanceState } from '../../functions/state/ports.js';
import { createRecordingOrchestrations, createRecordingSender, createRecordingTelemetry } from './recording.js';
import type { RecordingOrchestrations, RecordingSender, RecordingTelemetry } from './recording.js';

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
  readonly orchestrations: RecordingOrchestrations;
  readonly clock: ManualClock;
  readonly deps: SupervisorDeps;
  /** One run, with these settings instead of the usual ones. */
  readonly run: (changes?: Partial<SupervisorPolicy>) => Promise<SupervisorRun>;
  /** What the runtime says of every attempt from now on; at first, that it has timed out. */
  readonly answerStates: (state: InstanceState) => void;
  /** Stores an owned record whose deadline passed so long ago. */
  readonly expired: (orderId: string, agoMs: number, fields?: Partial<StateRecord>) => void;
}

/** Creates a world without records. */
export function createSupervisorWorld(): SupervisorWorld {
  const database = createMemoryStateDatabase();
  const sender = createRecordingSender();
  const telemetry = createRecordingTelemetry();
  let instance: InstanceState = 'timedOut';
  const recording = createRecordingOrchestrations();
  const orchestrations: RecordingOrchestrations = { ...recording, instanceState: () => Promise.resolve(instance) };
  const clock = createManualClock(now);
  const deps: SupervisorDeps = {
    orchestrations,
    store: createMemoryStateStore(database),
    clock,
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
    orchestrations,
    clock,
    deps,
    answerStates: (state) => {
      instance = state;
    },
    run: (changes = {}) => recoverExpired({ ...deps, policy: { ...policy, ...changes } }),
    expired: (orderId, agoMs, fields = {}) => {
      const owned = advanced(claimed(aRecord({ orderId })));
      const expiresAt = addMs(now, 1_000_000);
      database.put({ ...owned, expiresAt, completeBy: addMs(now, -agoMs), ...fields });
    },
  };
}
