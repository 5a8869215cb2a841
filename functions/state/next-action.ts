/** What the scheduler has to do after an advance, read from the record alone: so a repeat does the same. */
import { idempotencyKey, undoIdempotencyKey } from '../contracts/identifiers.js';
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
    }
  | { readonly kind: 'ended'; readonly processState: ProcessState };

/** The action that the record asks of the attempt that owns it. */
export function nextAction(record: StateRecord): NextAction {
  const running =
    record.processState === 'Compensating'
      ? record.compensation
          .filter(({ state }) => state === 'Running')
          .map(({ stepId, requestId }) => ({ stepId, requestId }))
      : record.steps.filter(({ state }) => state === 'Running').map(({ id, requestId }) => ({ stepId: id, requestId }));
  const isMoving = record.processState === 'Processing' || record.processState === 'Compensating';
  const next = running[0];
  if (!isMoving || record.lockedBy === null || record.completeBy === null || !next?.requestId) {
    return { kind: 'ended', processState: record.processState };
  }
  const isUndo = record.processState === 'Compensating';
  return {
    kind: 'dispatch',
    stepId: next.stepId,
    action: isUndo ? 'undo' : 'do',
    requestId: next.requestId,
    completeBy: record.completeBy,
    idempotencyKey: (isUndo ? undoIdempotencyKey : idempotencyKey)(record.orderId, next.stepId),
  };
}
