/**
 * How the orchestrator undoes what was done: one entry of the compensation log at a time, in reverse order (R44).
 *
 * Invariants
 * U1 Every entry that is not proven *not done* is undone, also those whose outcome is unknown (T71).
 * U2 A definite failure of one undo does not keep the others from being undone; the order then ends CompensationFailed (T76).
 */
import { agentRequestId } from '../contracts/identifiers.js';
import { addMs } from '../contracts/timestamp.js';
import type { Timestamp } from '../contracts/timestamp.js';
import type { AdvanceInput, StepReply } from './advance-input.js';
import { deferredUntil } from './deferral.js';
import { alreadyDone, refused, write } from './decision.js';
import type { Decision } from './decision.js';
import { gaveUp, undone } from './endings.js';
import { findStep } from './order-workflow.js';
import { moved, openCompensation, withCompensation } from './record-edits.js';
import type { CompensationEntry, StateRecord } from './state-record.js';

/** The undo part of *advance*: outcome of the last undo recorded, next undo running; or all done, or given up. */
export function decideUndo(record: StateRecord, input: AdvanceInput, now: Timestamp): Decision {
  const { reply } = input;
  if (reply === undefined) return startNextUndo(record, input, now);
  const entry = record.compensation.find(({ stepId }) => stepId === reply.stepId);
  if (entry?.requestId !== reply.requestId) return refused('foreignOutcome');
  const isRunning = entry.state === 'Running';
  const { deferrals } = entry;
  const notBefore = deferredUntil(now, { retryAfterMs: reply.retryAfterMs, deferrals }, input.deferral);
  const mayWait = isRunning && reply.outcome === 'deferred' && notBefore < record.expiresAt;
  if (mayWait) return write(deferred(record, entry, notBefore, now));
  return startNextUndo(isRunning ? withOutcome(record, reply) : record, input, now);
}

/** Not now: the undo is repeated later by another attempt, no failure counted, until the task-level deadline (T67). */
function deferred(record: StateRecord, entry: CompensationEntry, notBefore: Timestamp, now: Timestamp): StateRecord {
  const { stepId } = entry;
  const deferrals = entry.deferrals + 1;
  const waiting = withCompensation(record, stepId, { state: 'Recorded', requestId: null, deferrals });
  const fields = { lockedBy: null, completeBy: null, notBefore };
  return moved(waiting, { actor: 'orchestrator', to: 'Compensating', note: `undo of ${stepId} deferred`, fields }, now);
}

function withOutcome(record: StateRecord, reply: StepReply): StateRecord {
  const isDone = reply.outcome === 'succeeded';
  if (isDone) return withCompensation(record, reply.stepId, { state: 'Done' });
  const ended = { state: 'Failed', error: undoError(reply) } as const;
  return withCompensation(record, reply.stepId, { ...ended, ...uncertaintyOf(reply) });
}

/** An uncertain undo stays so: only a definite failure may be tried again under another key. */
function uncertaintyOf({ uncertain }: StepReply): Partial<CompensationEntry> {
  return uncertain === true ? { undoUncertain: true } : {};
}

function undoError({ outcome, error }: StepReply): { code: string; message: string } {
  if (outcome === 'deferred') return { code: 'UndoExpired', message: 'deferred beyond the lifetime of the order' };
  return error ?? { code: 'UndoFailed', message: 'the agent gave no reason' };
}

function startNextUndo(record: StateRecord, input: AdvanceInput, now: Timestamp): Decision {
  const next = openCompensation(record)[0];
  if (next === undefined) return write(ended(record, now));
  const requestId = agentRequestId(record.orderId, record.attempt, next.stepId);
  if (next.requestId === requestId && next.state === 'Running') return alreadyDone;
  const undoUncertain = next.undoUncertain || next.state === 'Running';
  const running = withCompensation(record, next.stepId, { state: 'Running', requestId, undoUncertain });
  const deadlineShare = findStep(input.workflow, next.stepId)?.deadlineShare ?? 1;
  const fields = { completeBy: addMs(now, input.stepDeadlineMs * deadlineShare) };
  const note = `${next.action} of ${next.stepId} started`;
  return write(moved(running, { actor: 'orchestrator', to: 'Compensating', note, fields }, now));
}

function ended(record: StateRecord, now: Timestamp): StateRecord {
  const failed = record.compensation.filter((entry) => entry.state === 'Failed').map((entry) => entry.stepId);
  if (failed.length === 0) return undone(record, now);
  const message = `the undo failed for: ${failed.join(', ')}`;
  return gaveUp(record, { actor: 'orchestrator', to: 'CompensationFailed', code: 'UndoFailed', message }, now);
}
