/** What the attempt that owns an order has dispatched so far, read from the record alone. */
import { agentRequestId } from '../contracts/identifiers.js';
import type { StateRecord } from './state-record.js';

/** The steps, or in Compensating the undos, that the present attempt has dispatched, in this order; the last one is the newest. */
export function ownRequests(record: StateRecord): readonly string[] {
  const { orderId, attempt, processState } = record;
  const isOwn = (stepId: string, requestId: string | null): boolean =>
    requestId === agentRequestId(orderId, attempt, stepId);
  if (processState !== 'Compensating') {
    return record.steps.filter(({ id, requestId }) => isOwn(id, requestId)).map(({ id }) => id);
  }
  return record.compensation
    .filter(({ stepId, requestId }) => isOwn(stepId, requestId))
    .sort((a, b) => b.seq - a.seq)
    .map(({ stepId }) => stepId);
}

/** True when the present attempt has dispatched a step or an undo. */
export function hasBegun(record: StateRecord): boolean {
  return ownRequests(record).length > 0;
}

/**
 * True when the newest request is the one that follows the given step, or the attempt's first one. A late repeat of an
 * earlier turn finds a newer request, which is not for it to send.
 *
 * @param stepId the step whose outcome led to the request; `undefined` at the beginning of an attempt
 */
export function isRequestAfter(record: StateRecord, stepId: string | undefined): boolean {
  return ownRequests(record).at(-2) === stepId;
}
