/**
 * "Look at this order now": lets the supervisor act before its next scan. Only a hint, the scan is the guarantee.
 *
 * An attempt sends it as the last thing it does, and says how it ended: then the supervisor need not ask the runtime.
 */
import { z } from 'zod';
import { orderIdSchema } from './identifiers.js';
import { parseMessage } from './parse-message.js';
import type { Parsed } from './rejection.js';

/** Queue of the supervisor's hints. */
export const hintQueueName = 'supervisor-hints';

/** How an attempt ended without an ending of its order: the time of its step was up, or something broke on our side. */
export const attemptEndingSchema = z.enum(['timedOut', 'stopped']);

export type AttemptEnding = z.infer<typeof attemptEndingSchema>;

export const supervisorHintSchema = z.object({
  schemaVersion: z.literal(1),
  orderId: orderIdSchema,
  /** The request that the attempt waited for last; absent in hints of earlier builds. */
  requestId: z.string().optional(),
  ending: attemptEndingSchema.optional(),
});

export type SupervisorHint = z.infer<typeof supervisorHintSchema>;

/** Reads a supervisor hint. */
export function parseSupervisorHint(body: unknown): Parsed<SupervisorHint> {
  return parseMessage(supervisorHintSchema, body, () => 'InvalidHint');
}
