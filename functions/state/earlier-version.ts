/**
 * What a read of the record proves. Another process's newest write may not be visible to it yet (Session consistency allows
 * that, and so does a fail-over), so nothing final may follow from a version that is older than the question. Two
 * things only grow, and tell: the attempt number (I3), and within an attempt what it has recorded (A1).
 */
import { attemptOf, orchestrationInstanceId } from '../contracts/identifiers.js';
import type { StateRecord } from './state-record.js';

/** True if this version was written before the attempt was claimed: it proves nothing about the attempt. */
export function isEarlierThanAttempt(record: StateRecord, attempt: number): boolean {
  return record.attempt < attempt;
}

/**
 * True if this version was written before the request was recorded: it proves nothing about the request.
 *
 * @param requestId id of a request that was recorded before anybody could know it
 */
export function isEarlierThanRequest(record: StateRecord, requestId: string): boolean {
  const attempt = attemptOf(requestId);
  if (record.attempt !== attempt) return isEarlierThanAttempt(record, attempt);
  const isOwned = record.lockedBy === orchestrationInstanceId(record.orderId, attempt);
  const isRecorded = [...record.steps, ...record.compensation].some((entry) => entry.requestId === requestId);
  return isOwned && !isRecorded;
}
