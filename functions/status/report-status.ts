/**
 * Sends what waits in a record's outbox to the application's own status queue (R113–R117).
 *
 * Invariants
 * O1 A status is in the outbox from the transition that causes it until it has been sent (T53).
 * O2 The MessageId is derived, so sending twice is harmless.
 * O3 A status queue that is missing, full or forbidden never blocks an order (T55, C24).
 * O4 That is reported once per order: by the write that records it first (C52).
 */
import { createHash } from 'node:crypto';
import { statusMessageId, statusQueueName } from '../contracts/identifiers.js';
import type { StatusMessage, StatusReason } from '../contracts/status-message.js';
import type { Timestamp } from '../contracts/timestamp.js';
import { traceProperties } from '../contracts/trace-context.js';
import type { QueueSender } from '../state/ports.js';
import { withoutSent } from '../state/record-edits.js';
import type { OutboxEntry, StateRecord } from '../state/state-record.js';

/** What became of the statuses that waited. */
export interface Delivery {
  /** `seq` of those that were sent. */
  readonly sent: readonly number[];
  /** The application's queue did not take the next one. */
  readonly isBlocked: boolean;
}

/** O3: an order does not wait longer than this for its application's queue; the supervisor's sweep tries again. */
const sendTimeoutMs = 2_000;

/** Sends all waiting statuses in order, and stops at the first that can't be sent. */
export async function sendOutbox(record: StateRecord, sender: QueueSender): Promise<Delivery> {
  const sent: number[] = [];
  for (const entry of record.outbox) {
    try {
      const message = {
        messageId: statusMessageId(record.orderId, entry.seq),
        correlationId: record.orderId,
        body: statusMessage(record.orderId, entry),
        ...traceProperties(record.traceparent),
      };
      await sender.send(statusQueueName(record.application), message, AbortSignal.timeout(sendTimeoutMs));
      sent.push(entry.seq);
    } catch {
      return { sent, isBlocked: true };
    }
  }
  return { sent, isBlocked: false };
}

/** The record without the statuses that were sent; it notes when the application's queue first did not take one. */
export function afterDelivery(record: StateRecord, { sent, isBlocked }: Delivery, now: Timestamp): StateRecord {
  const rest = withoutSent(record, sent);
  return isBlocked && rest.statusUndeliverableAt === null ? { ...rest, statusUndeliverableAt: now } : rest;
}

function statusMessage(orderId: string, entry: OutboxEntry): StatusMessage {
  const message = { schemaVersion: 1, orderId, seq: entry.seq, status: entry.kind, at: entry.at } as const;
  return entry.reason === null ? message : { ...message, reason: entry.reason };
}

/** Why an order was not taken, for the application that sent it. */
export type Rejected = Pick<StatusMessage, 'retryAfterMs'> & { readonly reason: StatusReason };

/** Too much waits: the order may be sent again later. */
export function busy(retryAfterMs: number): Rejected {
  return {
    reason: { code: 'Busy', message: 'Too many orders are waiting. Send the order again later.' },
    retryAfterMs,
  };
}

/** Order ids are one namespace over all applications: the first order keeps the id. */
export const idTaken: Rejected = {
  reason: { code: 'OrderConflict', message: 'Another order has this orderId. Send this one under a new orderId.' },
};

/**
 * Tells an application that its order was not taken. The order is not stored, so there is no outbox: the caller completes
 * the message only after this has been sent.
 *
 * @param resendId differs from message to message, so that a later refusal of the same order is not swallowed
 */
export async function sendRejected(
  order: { readonly orderId: string; readonly application: string; readonly at: Timestamp },
  resendId: string,
  { reason, retryAfterMs }: Rejected,
  sender: QueueSender,
): Promise<void> {
  const { orderId, at } = order;
  const status: StatusMessage = { schemaVersion: 1, orderId, seq: 0, status: 'OrderRejected', at, reason };
  await sender.send(statusQueueName(order.application), {
    messageId: `${orderId}.${reason.code}.${createHash('sha256').update(resendId).digest('hex').slice(0, 24)}`,
    correlationId: orderId,
    body: retryAfterMs === undefined ? status : { ...status, retryAfterMs },
  });
}
