/** What the scheduler has to do after an advance, read from the record alone: so a repeat does the same. */
import { agentRequestId, idempotencyKey, undoIdempotencyKey } from '../contracts/identifiers.js';
import type { Timestamp } from '../contracts/timestamp.js';
import type { ProcessState, StateRecord } from './state-record.js';

/** Send a request for this step, or the attempt is over. */
export type NextAction =
  | {
      readonly kind: 'dispatch';
      readonly stepId: string;
      readonly action: 'do' | 'undo';
      readonly requestId: string;
      readonly completeBy: Timestamp;
      readonly idempotencyKey: string;
      /** Attempts that have failed so far. */
      readonly failures: number;
    }
  | { readonly kind: 'ended'; readonly processState: ProcessState };

/** Send a request for a step. */
export type DispatchAction = Extract<NextAction, { kind: 'dispatch' }>;

/** The action that the record asks of the attempt that owns it. */
export function nextAction(record: StateRecord): NextAction {
  const { orderId, attempt, processState, completeBy } = record;
  const isUndo = processState === 'Compensating';
  const stepId = isUndo ? runningUndo(record) : runningStep(record);
  const isMoving = (isUndo || processState === 'Processing') && record.lockedBy !== null;
  if (!isMoving || completeBy === null || stepId === undefined) return { kind: 'ended', processState };
  return {
    kind: 'dispatch',
    stepId,
    action: isUndo ? 'undo' : 'do',
    requestId: agentRequestId(orderId, attempt, stepId),
    completeBy,
    idempotencyKey: isUndo ? undoKey(record, stepId) : stepKey(record, stepId),
    failures: isUndo ? record.compensationFailureCount : record.failureCount,
  };
}

/** The key of a step's request, in its present generation. */
export function stepKey({ orderId, steps }: StateRecord, stepId: string): string {
  return idempotencyKey(orderId, stepId, steps.find(({ id }) => id === stepId)?.keyGeneration);
}

function undoKey({ orderId, compensation }: StateRecord, stepId: string): string {
  const entry = compensation.find((candidate) => candidate.stepId === stepId);
  return undoIdempotencyKey(orderId, stepId, entry?.undoGeneration);
}

function runningStep(record: StateRecord): string | undefined {
  return record.steps.find((step) => step.state === 'Running' && isOwn(record, step.id, step.requestId))?.id;
}

function runningUndo(record: StateRecord): string | undefined {
  return record.compensation.find((entry) => entry.state === 'Running' && isOwn(record, entry.stepId, entry.requestId))
    ?.stepId;
}

/** It runs for this very attempt: after a claim the lost attempt's step still says Running. */
function isOwn({ orderId, attempt }: StateRecord, stepId: string, requestId: string | null): boolean {
  return requestId === agentRequestId(orderId, attempt, stepId);
}
