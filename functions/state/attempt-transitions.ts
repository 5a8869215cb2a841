/**
 * How an attempt begins and ends without progress: claim and release by the starter, recover by the supervisor.
 *
 * Invariants (design rules, cited by code and tests)
 * I1 Every write after the claim carries the fence: the writer's instance id is still `lockedBy`, and the ETag is unchanged.
 * I2 A lost or repeated write is recognised by reading back: the rule answers *alreadyDone*.
 * I3 `attempt` grows by one in each claim and never repeats.
 * I4 A terminal state is left only by an operator.
 * I5 A record is never claimed without a `completeBy`.
 * I6 Nothing is acknowledged to a queue before it is durable (kept by the triggers, not here).
 */
import { orchestrationInstanceId } from '../contracts/identifiers.js';
import { addMs } from '../contracts/timestamp.js';
import { alreadyDone, refused, write } from './decision.js';
import type { Transition } from './decision.js';
import { gaveUp } from './endings.js';
import { dispatchCost } from './order-workflow.js';
import type { Workflow } from './order-workflow.js';
import { hasBegun } from './own-requests.js';
import { moved } from './record-edits.js';
import { isTerminal } from './state-record.js';
import type { StateRecord } from './state-record.js';

/** The starter wants to run this attempt. */
export interface ClaimInput {
  readonly attempt: number;
  /** How long the attempt may take to start before the supervisor looks at it (T1, T2). */
  readonly claimLeaseMs: number;
}

/** Pending or Compensating, free and due → owned by the next attempt, with a completeBy (R86, I3, I5). */
export const claim: Transition<ClaimInput> = {
  name: 'claim',
  actor: 'starter',
  from: ['Pending', 'Compensating'],
  to: ['Processing', 'Compensating'],
  decide: (record, { attempt, claimLeaseMs }, now) => {
    const instanceId = orchestrationInstanceId(record.orderId, attempt);
    if (record.lockedBy === instanceId) return isTerminal(record) ? refused('notClaimable') : alreadyDone;
    const waits = claim.from.includes(record.processState);
    const isFree = record.lockedBy === null;
    const isDue = record.notBefore <= now;
    const isNextAttempt = record.attempt + 1 === attempt;
    if (!(waits && isFree && isDue && isNextAttempt)) return refused('notClaimable');
    const to = record.processState === 'Pending' ? 'Processing' : 'Compensating';
    const fields = { attempt, lockedBy: instanceId, completeBy: addMs(now, claimLeaseMs) };
    return write(moved(record, { actor: 'starter', to, note: `attempt ${attempt} claimed`, fields }, now));
  },
};

/** The runtime refused to start the attempt that was just claimed. */
export interface ReleaseInput {
  readonly instanceId: string;
  readonly backoffMs: number;
}

/** Claimed, definitely not started and without a dispatched step → waiting again; no failure is counted. */
export const release: Transition<ReleaseInput> = {
  name: 'release',
  actor: 'starter',
  from: ['Processing', 'Compensating'],
  to: ['Pending', 'Compensating'],
  decide: (record, { instanceId, backoffMs }, now) => {
    const isOwner = record.lockedBy === instanceId;
    const isClaimed = release.from.includes(record.processState);
    if (!isOwner || !isClaimed) return refused('superseded');
    if (hasBegun(record)) return refused('wrongState');
    const to = record.processState === 'Processing' ? 'Pending' : 'Compensating';
    const fields = { lockedBy: null, completeBy: null, notBefore: addMs(now, backoffMs) };
    return write(moved(record, { actor: 'starter', to, note: 'start refused by the runtime', fields }, now));
  },
};

/** How the supervisor recovers: limits and waits in milliseconds. */
export interface RecoveryPolicy {
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
}

/** The supervisor saw an owned record whose time is up. */
export interface RecoverInput {
  readonly observedLockedBy: string | null;
  readonly observedCompleteBy: string | null;
  readonly workflow: Workflow | undefined;
  readonly policy: RecoveryPolicy;
  /** 0 to 1: spreads the next attempts so that they do not all start at once (T10). */
  readonly jitter: number;
}

/** Owned and expired as seen → one failure counted, and waiting for another attempt or given up (R109–R111, T35–T38). */
export const recover: Transition<RecoverInput> = {
  name: 'recover',
  actor: 'supervisor',
  from: ['Processing', 'Compensating'],
  to: ['Pending', 'Compensating', 'Error', 'CompensationFailed'],
  decide: (record, input, now) => {
    if (!recover.from.includes(record.processState)) return refused('wrongState');
    const isAsSeen = record.lockedBy === input.observedLockedBy && record.completeBy === input.observedCompleteBy;
    if (!isAsSeen) return refused('changedMeanwhile');
    // A claim without a deadline breaks I5; it still must not hang for ever (C2).
    const deadline = record.completeBy ?? addMs(record.updatedAt, input.policy.startByMs);
    const isExpired = addMs(deadline, input.policy.graceMs) <= now;
    if (record.lockedBy === null || !isExpired) return refused('notExpired');
    return write(
      record.processState === 'Processing' ? recoverForward(record, input, now) : recoverUndo(record, input, now),
    );
  },
};

function recoverForward(record: StateRecord, input: RecoverInput, now: string): StateRecord {
  const counted = { ...record, failureCount: record.failureCount + 1 };
  const obstacle = obstacleToRetry(counted, input, now);
  if (obstacle !== undefined) return gaveUp(counted, { actor: 'supervisor', to: 'Error', ...obstacle }, now);
  return moved(
    counted,
    {
      actor: 'supervisor',
      to: 'Pending',
      note: `attempt ${record.attempt} expired, failure ${counted.failureCount} of ${input.policy.maxFailures + input.policy.extendedRetries}`,
      fields: waitForStarter(counted.failureCount, input, now),
    },
    now,
  );
}

function recoverUndo(record: StateRecord, input: RecoverInput, now: string): StateRecord {
  const counted = { ...record, compensationFailureCount: record.compensationFailureCount + 1 };
  if (counted.compensationFailureCount >= input.policy.maxFailures) {
    const message = `the undo did not finish in ${input.policy.maxFailures} attempts`;
    const ending = { actor: 'supervisor', to: 'CompensationFailed', code: 'UndoAttemptsExhausted', message } as const;
    return gaveUp(counted, ending, now);
  }
  const fields = waitForStarter(counted.compensationFailureCount, input, now);
  return moved(counted, { actor: 'supervisor', to: 'Compensating', note: 'undo expired, to be repeated', fields }, now);
}

function obstacleToRetry(
  record: StateRecord,
  { policy, workflow }: RecoverInput,
  now: string,
): { code: string; message: string } | undefined {
  const cheapest = Math.min(...(workflow?.steps.map(dispatchCost) ?? [0]));
  const attempts = policy.maxFailures + policy.extendedRetries;
  if (record.failureCount >= attempts) {
    return { code: 'AttemptsExhausted', message: `not finished in ${attempts} attempts` };
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

function waitForStarter(failures: number, { policy, jitter }: RecoverInput, now: string): Partial<StateRecord> {
  const ordinaryMs = Math.min(policy.backoffMs * 2 ** (failures - 1), policy.maxBackoffMs);
  const waitMs = failures < policy.maxFailures ? ordinaryMs : policy.extendedWaitMs;
  const notBefore = addMs(now, Math.round(waitMs * (1 + jitter)));
  return { lockedBy: null, notBefore, completeBy: addMs(notBefore, policy.startByMs) };
}
