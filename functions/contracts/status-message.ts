/** What an application reads from its own status queue (R116, R117, T58): public facts only. */
import { z } from 'zod';
import { orderIdSchema } from './identifiers.js';
import { timestampSchema } from './timestamp.js';

/** Public reason codes of a failed or rejected order (T77). */
export const statusReasonCodeSchema = z.enum([
  'Refused', // a remote service said no; everything done was undone
  'Undone', // could not be finished; everything done was undone
  'Failed', // could not be finished; an operator looks at it
  'UndoIncomplete', // could not be finished and not be undone in full; an operator looks at it
  'Busy', // too much work waits; try again later
  'OrderConflict', // another order has this id, of whatever application
]);

export const statusReasonSchema = z.object({
  code: statusReasonCodeSchema,
  message: z.string().max(200),
});

export const statusKindSchema = z.enum(['OrderReceived', 'OrderRejected', 'OrderCompleted', 'OrderFailed']);

export const statusMessageSchema = z.object({
  schemaVersion: z.literal(1),
  orderId: orderIdSchema,
  /** Grows with each status of the order: drop what is not newer than what you have seen (T54). 0: the order was not taken. */
  seq: z.int().min(0),
  status: statusKindSchema,
  at: timestampSchema,
  reason: statusReasonSchema.optional(),
  /** With reason `Busy`: when to send the order again, in milliseconds. */
  retryAfterMs: z.int().min(0).optional(),
});

export type StatusKind = z.infer<typeof statusKindSchema>;
export type StatusReason = z.infer<typeof statusReasonSchema>;
export type StatusMessage = z.infer<typeof statusMessageSchema>;
