/** What a run of the supervisor needs, what it may spend and what it has done; the parts of a run share it. */
import type { JobMemory, Orchestrations, RecordPage, RecoveryIndex, StateStore, Telemetry } from '../state/ports.js';
import type { RecoveryPolicy } from '../state/recovery-transitions.js';
import { alertUnreadable } from '../status/alert-unreadable.js';
import type { TransitionDeps } from '../status/apply-transition.js';
import type { SupervisorMemory } from './supervisor-memory.js';

/** What the supervisor needs. */
export interface SupervisorDeps extends TransitionDeps {
  readonly policy: SupervisorPolicy;
  readonly orchestrations: Pick<Orchestrations, 'instanceState' | 'terminate'>;
  /** Where to look first, if the option is on. */
  readonly index?: RecoveryIndex;
  readonly jobs: JobMemory;
  /** 0 to 1; seeded in tests. */
  readonly random: () => number;
}

/** What the parts of one run need. */
export interface SweepDeps extends SupervisorDeps {
  readonly memory: SupervisorMemory;
}

/** Settings of the supervisor; times in milliseconds. */
export interface SupervisorPolicy extends RecoveryPolicy {
  /** How far back the first pages look. */
  readonly windowMs: number;
  readonly pageSize: number;
  readonly maxPerRun: number;
  /** How many orders are recovered at the same time. */
  readonly concurrency: number;
  /** Request units after which a run stops; the next one goes on (R107). */
  readonly maxRequestCharge: number;
  /** With a recovery index: how often all records are scanned all the same, which is the guarantee. */
  readonly scanEveryMinutes: number;
}

/** What one run did. */
export interface SupervisorRun {
  recovered: number;
  /** Attempts that the runtime still has: they got more time. */
  renewed: number;
  /** Somebody else was faster, or the attempt went on meanwhile. */
  lost: number;
  /** Could not be recovered now. */
  failed: number;
  unreadable: number;
  statusesSwept: number;
  /** Parts of the run that ended early: a page could not be read, or a status could not be noted as sent. */
  sweepsFailed: number;
  /** Of pages and of writes. */
  requestCharge: number;
  /** How long the oldest record that was seen is past its deadline. */
  oldestExpiredMs: number;
  /** How long the order that has waited longest for the starter has been due (T7). */
  oldestPendingMs: number;
}

/** A run that has done nothing yet. */
export function newRun(): SupervisorRun {
  return {
    recovered: 0,
    renewed: 0,
    lost: 0,
    failed: 0,
    unreadable: 0,
    statusesSwept: 0,
    sweepsFailed: 0,
    requestCharge: 0,
    oldestExpiredMs: 0,
    oldestPendingMs: 0,
  };
}

/** The store as a run uses it: its writes count as its pages do (R107). */
export function metered(store: StateStore, run: SupervisorRun): StateStore {
  return {
    ...store,
    replaceIfUnchanged: async (record, etag) => {
      const result = await store.replaceIfUnchanged(record, etag);
      if (result.kind === 'replaced') run.requestCharge += result.requestCharge;
      return result;
    },
  };
}

/** Counts what a page cost, and tells of what in it can't be read. */
export function countPage(page: RecordPage, run: SupervisorRun, { telemetry }: SupervisorDeps): void {
  run.requestCharge += page.requestCharge;
  run.unreadable += page.unreadable.length;
  alertUnreadable(page, telemetry);
}

/** Does one part of a run. If it fails, that is counted and reported, and the run goes on with the next part. */
export async function guardedSweep<Result>(
  sweep: string,
  { run, telemetry }: { readonly run: SupervisorRun; readonly telemetry: Telemetry },
  work: () => Promise<Result>,
): Promise<Result | 'failed'> {
  try {
    return await work();
  } catch (error) {
    run.sweepsFailed += 1;
    telemetry.event('sweep-failed', { sweep, cause: String(error) });
    return 'failed';
  }
}
