/**
 * How an attempt makes progress: the orchestrator's one rule *advance*, which records the outcome of the last step and
 * then starts the next one, or finishes, refuses or fails the order. Invariants I1–I6: attempt-transitions.ts.
 *
 * Invariants
 * A1 One write records the outcome *and* the next step: no crash can fall between them.
 * A2 The undo of a step is recorded before its request is sent (T71, T72).
 * A3 A repeat of an advance changes nothing and spends no budget (the request id tells).
 * A4 An answer proves that a step was not done only if no earlier call, delivery or request of the step can have done it.
 *    What is uncertain is undone, and stays marked as uncertain.
 */
import { agentRequestId } from '../contracts/identifiers.js';
import { addMs, earlier } from '../contracts/timestamp.js';
import type { Timestamp } from '../contracts/timestamp.js';
import type { AdvanceInput, StepReply } from './advance-input.js';
import { decideUndo } from './compensation-transitions.js';
import { deferredUntil } from './deferral.js';
import { alreadyDone, refused, write } from './decision.js';
import type { Decision, Transition } from './decision.js';
import { beginUndo, cannotFinish, gaveUp } from './endings.js';
import type { Ending, LastFailure } from './endings.js';
import { stepKey } from './next-action.js';
import { dispatchCost, findStep } from './order-workflow.js';
import { ownRequests } from './own-requests.js';
import { moved, withCompensation, withFailure, withStatus, withStep, withUndoFailure } from './record-edits.js';
import { isTerminal } from './state-record.js';
import type { StateRecord, StepRecord } from './state-record.js';

/** Owned by this attempt → outcome recorded, next step running; or finished, refused, failed. */
export const advance: Transition<AdvanceInput> = {
  name: 'advance',
  actor: 'orchestrator',
  from: ['Processing', 'Compensating'],
  to: ['Processing', 'Pending', 'Compensating', 'Processed', 'Error', 'Compensated', 'CompensationFailed'],
  decide: (record, input, now) => {
    if (record.lockedBy !== input.instanceId) return refused('superseded');
    if (isTerminal(record)) return alreadyDone;
    if (record.processState === 'Compensating') return decideUndo(record, input, now);
    return decideForward(record, input, now);
  },
};

/** Progress is impossible for a reason that no repeat cures (T42). */
export interface FailInput {
  readonly instanceId: string;
  readonly code: string;
  readonly message: string;
}

/** Owned by this attempt → given up, for an operator to look at (R102). */
export const fail: Transition<FailInput> = {
  name: 'fail',
  actor: 'orchestrator',
  from: ['Processing', 'Compensating'],
  to: ['Error', 'CompensationFailed'],
  decide: (record, { instanceId, code, message }, now) => {
    if (record.lockedBy !== instanceId) return refused('superseded');
    if (isTerminal(record)) return alreadyDone;
    const to = record.processState === 'Compensating' ? 'CompensationFailed' : 'Error';
    return write(gaveUp(withOwnFailure(record), { actor: 'orchestrator', to, code, message }, now));
  },
};

/** Counts a failure at what the attempt has dispatched last; without a dispatch there is none. */
function withOwnFailure(record: StateRecord): StateRecord {
  const stepId = ownRequests(record).at(-1);
  if (stepId === undefined) return record;
  return record.processState === 'Compensating' ? withUndoFailure(record, stepId) : withFailure(record, stepId);
}

function decideForward(record: StateRecord, input: AdvanceInput, now: Timestamp): Decision {
  const { reply } = input;
  if (reply === undefined) return startNextStep(record, input, now);
  const step = record.steps.find(({ id }) => id === reply.stepId);
  if (step?.requestId !== reply.requestId) return refused('foreignOutcome');
  if (step.state === 'Completed') return startNextStep(record, input, now);
  switch (reply.outcome) {
    case 'succeeded':
      return startNextStep(completed(record, step, reply, now), input, now);
    case 'refused':
      return write(refusedByAgent(record, input, reply, now));
    case 'failed':
      return write(failedAtAgent(record, input, reply, now));
    case 'deferred':
      return write(deferredByAgent(record, input, reply, now));
  }
}

function completed(record: StateRecord, step: StepRecord, reply: StepReply, now: Timestamp): StateRecord {
  return withStep(record, step.id, { state: 'Completed', endedAt: now, result: reply.result ?? null, error: null });
}

function startNextStep(record: StateRecord, input: AdvanceInput, now: Timestamp): Decision {
  const next = record.steps.find((step) => step.state !== 'Completed');
  if (next === undefined) return write(finished(record, now));
  const requestId = agentRequestId(record.orderId, record.attempt, next.id);
  if (next.requestId === requestId && next.state === 'Running') return alreadyDone; // A3
  const definition = findStep(input.workflow, next.id);
  if (definition === undefined) return write(gaveUp(record, unknownStep(next.id), now));
  const spent = record.budget.spent + dispatchCost(definition);
  if (spent > record.budget.allowed)
    return write(cannotGoOn(record, input, { stepId: next.id, ...budgetExhausted }, now));
  const completeBy = earlier(addMs(now, input.stepDeadlineMs * definition.deadlineShare), record.expiresAt);
  if (completeBy <= now) return write(cannotGoOn(record, input, { stepId: next.id, ...expired }, now));
  const running = { state: 'Running', requestId, completeBy, startedAt: now, endedAt: null, error: null } as const;
  const started = withStep(withIntent(record, next, definition.undoAction), next.id, running);
  const fields = { completeBy, budget: { ...record.budget, spent } };
  return write(moved(started, { actor: 'orchestrator', to: 'Processing', note: `${next.id} started`, fields }, now));
}

/** A2: what may have to be undone is on record before anything can be done. */
function withIntent(record: StateRecord, { id: stepId, state }: StepRecord, action: string): StateRecord {
  const key = stepKey(record, stepId);
  const known = record.compensation.find((entry) => entry.stepId === stepId);
  if (known !== undefined) {
    // A step that failed was answered; of one that still runs for a lost attempt nothing is known.
    const uncertain = known.uncertain || state !== 'Failed';
    return withCompensation(record, stepId, { state: 'Recorded', key, uncertain });
  }
  const seq = record.compensation.length + 1;
  const intent = { seq, stepId, action, key, state: 'Recorded', requestId: null, failureCount: 0 } as const;
  const entry = { ...intent, uncertain: false, deferrals: 0, undoGeneration: 1, undoUncertain: false };
  return { ...record, compensation: [...record.compensation, entry] };
}

function finished(record: StateRecord, now: Timestamp): StateRecord {
  const change = {
    actor: 'orchestrator',
    to: 'Processed',
    note: 'all steps completed',
    fields: { completeBy: null },
  } as const;
  return withStatus(moved(record, change, now), 'OrderCompleted', null, now);
}

/** A definite no. Unless an earlier request is unaccounted for, nothing was done for this step; the rest is undone (T75). */
function refusedByAgent(record: StateRecord, input: AdvanceInput, reply: StepReply, now: Timestamp): StateRecord {
  const { code, message } = reply.error ?? { code: 'Refused', message: 'refused by the remote service' };
  const ended = withStep(record, reply.stepId, { state: 'Refused', endedAt: now, error: { code, message } });
  const proven = withProof(ended, reply);
  const withCause = { ...proven, error: { code, message, stepId: reply.stepId, at: now } };
  const note = `${reply.stepId} refused: ${code}`;
  return beginUndo(withCause, { actor: 'orchestrator', note }, input, now);
}

/** A4: proof that the step was not done, unless this request or an earlier one may have had an effect (U1). */
function withProof(record: StateRecord, reply: StepReply): StateRecord {
  const isProven = !isUncertain(record, reply);
  return withCompensation(record, reply.stepId, isProven ? { state: 'Skipped' } : { uncertain: true });
}

function isUncertain(record: StateRecord, { stepId, uncertain }: StepReply): boolean {
  const entry = record.compensation.find((candidate) => candidate.stepId === stepId);
  return uncertain === true || entry?.uncertain === true;
}

/** Not now, and this request has done nothing: another attempt later, no failure counted, the calls given back (T67). */
function deferredByAgent(record: StateRecord, input: AdvanceInput, reply: StepReply, now: Timestamp): StateRecord {
  const { stepId } = reply;
  const deferrals = record.steps.find(({ id }) => id === stepId)?.deferrals ?? 0;
  const notBefore = deferredUntil(now, { retryAfterMs: reply.retryAfterMs, deferrals }, input.deferral);
  if (notBefore >= record.expiresAt) return cannotGoOn(record, input, { stepId, ...expired }, now);
  const definition = findStep(input.workflow, stepId);
  const spent = record.budget.spent - (definition === undefined ? 0 : dispatchCost(definition));
  const fresh = { state: 'NotStarted', requestId: null, completeBy: null, startedAt: null } as const;
  const reset = withoutProvenIntent(withStep(record, stepId, { ...fresh, deferrals: deferrals + 1 }), reply);
  const fields = { lockedBy: null, completeBy: null, notBefore, budget: { ...record.budget, spent } };
  const change = { actor: 'orchestrator', to: 'Pending', note: `${stepId} deferred by its agent`, fields } as const;
  return moved(reset, change, now);
}

/** A4: the next request of the step is its first one again, as far as an effect is concerned. */
function withoutProvenIntent(record: StateRecord, reply: StepReply): StateRecord {
  if (isUncertain(record, reply)) return withCompensation(record, reply.stepId, { uncertain: true });
  return { ...record, compensation: record.compensation.filter(({ stepId }) => stepId !== reply.stepId) };
}

/** An unrecoverable fault: an operator decides, or the order is undone (R102, R20). */
function failedAtAgent(record: StateRecord, input: AdvanceInput, reply: StepReply, now: Timestamp): StateRecord {
  const error = reply.error ?? { code: 'Failed', message: 'unrecoverable fault at the remote service' };
  const failed = withStep(record, reply.stepId, { state: 'Failed', endedAt: now, error });
  const ended = withCompensation(failed, reply.stepId, { uncertain: isUncertain(record, reply) });
  return cannotGoOn(withFailure(ended, reply.stepId), input, { stepId: reply.stepId, ...error }, now);
}

const budgetExhausted = {
  code: 'BudgetExhausted',
  message: 'the retry budget does not allow another request',
} as const;
const expired = { code: 'Expired', message: 'the order was not finished in its lifetime' } as const;

/** Only a newer build can tell what such an order needs, or how to undo it. */
function unknownStep(stepId: string): Ending {
  const message = 'this build does not know the step';
  return { actor: 'orchestrator', to: 'Error', code: 'UnknownStep', message, stepId };
}

function cannotGoOn(
  record: StateRecord,
  input: AdvanceInput,
  failure: Omit<LastFailure, 'actor'>,
  now: Timestamp,
): StateRecord {
  return cannotFinish(record, { actor: 'orchestrator', ...failure }, input, now);
}
