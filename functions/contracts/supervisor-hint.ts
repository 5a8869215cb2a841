/** "Look at this order now": lets the supervisor act before its next scan. Only a hint, the scan is the guarantee. */
import { z } from 'zod';
import { orderIdSchema } from './identifiers.js';
import { parseMessage } from './parse-message.js';
import type { Parsed } from './rejection.js';

/** Queue of the supervisor's hints. */
export const hintQueueName = 'supervisor-hints';

export const supervisorHintSchema = z.object({ schemaVersion: z.literal(1), orderId: orderIdSchema });

export type SupervisorHint = z.infer<typeof supervisorHintSchema>;

/** Reads a supervisor hint. */
export function parseSupervisorHint(body: unknown): Parsed<SupervisorHint> {
  return parseMessage(supervisorHintSchema, body, () => 'InvalidHint');
}
