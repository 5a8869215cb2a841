/**
 * How the supervisor takes an order back from an attempt that is over, or whose time is up, and left no ending on the
 * record. Invariants I1 to I6: attempt-transitions.ts.
 *
 * Invariants
 * RC1 A failure is counted only if the attempt has dispatched a step and has then seen its time run out. A runtime that is
 *     slow, broken or without knowledge of the attempt is no failure of the order: such an order is tried again until its
 *     lifetime is over.
 * RC2 As long as the runtime still has the attempt, its lease is renewed, but only a few times in a row: one that hangs is
 *     replaced.
 * RC3 Failures are counted for each step and for each undo, beside the total (R32). The count of one decides.
 * RC4 After the last failure the workflow decides: an operator, or undo (R36, R37).
 */
import { addMs } from '../contracts/timestamp.js';
import type { Timestamp } from '../contracts/timestamp.js';
import { refused, write } from './decision.js';
import type { Transition } from './decision.js';
import { cannotFinish, gaveUp } from './endings.js';
import { dispatchCost } from './order-workflow.js';
import type { Workflow } from './order-workflow.js';
import { ownRequests } from './own-requests.js';
import type { InstanceState } from './ports.js';
import { moved, openCompensation, withCompensation, withFailure, withUndoFailure } from './record-edits.js';
import type { StateRecord } from './state-record.js';

/** How the supervisor recovers: limits and waits in milliseconds. */
export interface RecoveryPolicy {
  /** Failures of one step, or of one undo, after which the order is given up. */
  readonly maxFailures: number;
  /** Further attempts after that, each after an extended wait (R34). */
  readonly extendedRetries: number;
  readonly extendedWaitMs: number;
  /** The attempt's deadline must have passed by this much: clocks differ and timers are late (T62, C45). */
  readonly graceMs: number;
  /** Wait before the second attempt; doubles with each failure. */
  readonly backoffMs: number;
  readonly maxBackoffMs: number;
  /** How long a recovered order may wait for the starter before that is noticed (T7). */
  readonly startByMs: number;
  /** By how much the lease of an attempt is renewed that the runtime still has. */
  readonly claimLeaseMs: number;
  /** How long an undo may take, counted from its beginning. */
  readonly orderLifetimeMs: number;
}

/** The supervisor saw an owned record whose attempt is over, or whose time is up. */
export interface RecoverInput {
  readonly observedLockedBy: string | null;
  readonly observedCompleteBy: string | null;
  /** What the runtime says of the attempt. */
  readonly instance: InstanceState;
  readonly workflow: Workflow | undefined;
  readonly policy: RecoveryPolicy;
  /** 0 to 1: spreads the next attempts so that they do not all start at once (T10). */
  readonly jitter: number;
}

/** RC2: with the claim's own lease, an attempt may take six leases to begin; after a deadline it has five to end. */
const maxRenewals = 5;

/** Owned, and over or expired as seen → waiting for another attempt, or given up (R109–R111, T35–T38). */
export const recover: Transition<RecoverInput> = {
  name: 'recover',
  actor: 'supervisor',
  from: ['Processing', 'Compensating'],
  to: ['Pending', 'Processing', 'Compensating', 'Error', 'Compensated', 'CompensationFailed'],
  decide: (record, input, now) => {
    if (!recover.from.includes(record.processState)) return refused('wrongState');
    const isAsSeen = record.lockedBy === input.observedLockedBy && record.completeBy === input.observedCompleteBy;
    if (!isAsSeen) return refused('changedMeanwhile');
    if (record.lockedBy === null || !(isOver(input) || isExpired(record, input, now))) return refused('notExpired');
    if (input.instance === 'underWay' && renewalsOf(record) < maxRenewals) return write(renewed(record, input, now));
    return write(
      record.processState === 'Processing' ? recoverForward(record, input, now) : recoverUndo(record, input, now),
    );
  },
};

/** An attempt that has ended writes nothing more: its order need not wait for a deadline. */
function isOver({ instance }: RecoverInput): boolean {
  return instance === 'timedOut' || instance === 'stopped';
}

function isExpired(record: StateRecord, { policy }: RecoverInput, now: Timestamp): boolean {
  // A claim without a deadline breaks I5; it still must not hang for ever (C2).
  const deadline = record.completeBy ?? addMs(record.updatedAt, policy.startByMs);
  return addMs(deadline, policy.graceMs) <= now;
}

/** How often the lease was renewed since the attempt last wrote: while it owns the order, the supervisor writes nothing else. */
function renewalsOf({ history, attempt }: StateRecord): number {
  const lastOther = history.findLastIndex((entry) => entry.actor !== 'supervisor' || entry.attempt !== attempt);
  return history.length - 1 - lastOther;
}

function renewed(record: StateRecord, { policy }: RecoverInput, now: Timestamp): StateRecord {
  const note = `lease renewed: the runtime still has attempt ${record.attempt}`;
  const fields = { completeBy: addMs(now, policy.claimLeaseMs) };
  return moved(record, { actor: 'supervisor', to: record.processState, note, fields }, now);
}

/** RC1: the step, or the undo, at which the attempt has failed; `undefined` if it is no failure of the order. */
function failedStepOf(record: StateRecord, { instance }: RecoverInput): string | undefined {
  return instance === 'timedOut' ? ownRequests(record).at(-1) : undefined;
}

const causes: Readonly<Record<InstanceState, string>> = {
  unknown: 'the runtime does not know it',
  underWay: 'the runtime does not bring it to an end',
  stopped: 'the runtime has ended it',
  timedOut: 'it had dispatched nothing',
};

function recoverForward(record: StateRecord, input: RecoverInput, now: Timestamp): StateRecord {
  const stepId = failedStepOf(record, input);
  const counted = stepId === undefined ? record : withFailure(record, stepId);
  const failures = counted.steps.find(({ id }) => id === stepId)?.failureCount;
  const obstacle = obstacleToRetry(counted, failures, input, now);
  if (obstacle !== undefined) {
    const failure = { actor: 'supervisor', ...obstacle, ...(stepId === undefined ? {} : { stepId }) } as const;
    return cannotFinish(counted, failure, { ...input, ...input.policy }, now);
  }
  const note = noteOf(
    record,
    input,
    stepId === undefined ? undefined : `${stepId} failed ${failures} of ${limitOf(input)}`,
  );
  const fields = freedFor(waitMs(record, failures, input.policy), input, now);
  return moved(counted, { actor: 'supervisor', to: 'Pending', note, fields }, now);
}

function limitOf({ policy }: RecoverInput): number {
  return policy.maxFailures + policy.extendedRetries;
}

function noteOf({ attempt }: StateRecord, { instance }: RecoverInput, failure: string | undefined): string {
  return failure === undefined
    ? `attempt ${attempt} given back, no failure counted: ${causes[instance]}`
    : `attempt ${attempt} expired, ${failure}`;
}

function obstacleToRetry(
  record: StateRecord,
  failures: number | undefined,
  input: RecoverInput,
  now: Timestamp,
): { code: string; message: string } | undefined {
  const cheapest = Math.min(...(input.workflow?.steps.map(dispatchCost) ?? [0]));
  const limit = limitOf(input);
  if (failures !== undefined && failures >= limit) {
    return { code: 'AttemptsExhausted', message: `not finished in ${limit} attempts` };
  }
  if (record.expiresAt <= now) return { code: 'Expired', message: 'the order was not finished in its lifetime' };
  if (record.budget.spent + cheapest > record.budget.allowed) {
    return {
      code: 'BudgetExhausted',
      message: `retry budget spent: ${record.budget.spent} of ${record.budget.allowed}`,
    };
  }
  return undefined;
}

function recoverUndo(record: StateRecord, input: RecoverInput, now: Timestamp): StateRecord {
  const stepId = failedStepOf(record, input);
  if (stepId === undefined) return undoGivenBack(record, input, now);
  const { maxFailures } = input.policy;
  const counted = withUndoFailure(record, stepId);
  const failures = counted.compensation.find((entry) => entry.stepId === stepId)?.failureCount ?? 0;
  const error = {
    code: 'UndoAttemptsExhausted',
    message: `the undo of ${stepId} did not finish in ${maxFailures} attempts`,
  };
  const isLast = failures >= maxFailures;
  const failed = { state: 'Failed', undoUncertain: true, error } as const;
  const next = isLast ? withCompensation(counted, stepId, failed) : counted;
  if (openCompensation(next).length === 0) {
    return gaveUp(next, { actor: 'supervisor', to: 'CompensationFailed', stepId, ...error }, now);
  }
  const note = noteOf(record, input, isLast ? error.message : `undo of ${stepId} failed ${failures} of ${maxFailures}`);
  const fields = freedFor(backoffMs(failures, input.policy), input, now);
  return moved(next, { actor: 'supervisor', to: 'Compensating', note, fields }, now);
}

function undoGivenBack(record: StateRecord, input: RecoverInput, now: Timestamp): StateRecord {
  if (record.expiresAt <= now) {
    const message = 'the undo was not finished in its lifetime';
    return gaveUp(record, { actor: 'supervisor', to: 'CompensationFailed', code: 'UndoExpired', message }, now);
  }
  const fields = freedFor(backoffMs(record.attempt, input.policy), input, now);
  const note = noteOf(record, input, undefined);
  return moved(record, { actor: 'supervisor', to: 'Compensating', note, fields }, now);
}

/** Without a counted failure the wait grows with the number of the attempt. */
function waitMs({ attempt }: StateRecord, failures: number | undefined, policy: RecoveryPolicy): number {
  if (failures === undefined) return backoffMs(attempt, policy);
  return failures < policy.maxFailures ? backoffMs(failures, policy) : policy.extendedWaitMs;
}

function backoffMs(count: number, policy: RecoveryPolicy): number {
  return Math.min(policy.backoffMs * 2 ** (count - 1), policy.maxBackoffMs);
}

/** Free for the starter after a wait, which jitter may double (T10). */
function freedFor(ms: number, { policy, jitter }: RecoverInput, now: Timestamp): Partial<StateRecord> {
  const notBefore = addMs(now, Math.round(ms * (1 + jitter)));
  return { lockedBy: null, notBefore, completeBy: addMs(notBefore, policy.startByMs) };
}
