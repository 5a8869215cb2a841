/** "Look at this order now": lets the supervisor act before its next scan. Only a hint, the scan is the guarantee. */
import { z } from 'zod';
import { orderIdSchema } from './identifiers.js';
import { decodeMessageBody } from './message-body.js';
import { describeIssues, rejected } from './rejection.js';
import type { Parsed } from './rejection.js';

export const supervisorHintSchema = z.object({ schemaVersion: z.literal(1), orderId: orderIdSchema });

export type SupervisorHint = z.infer<typeof supervisorHintSchema>;

/** Reads a supervisor hint. */
export function parseSupervisorHint(body: unknown): Parsed<SupervisorHint> {
  const parsed = supervisorHintSchema.safeParse(decodeMessageBody(body));
  return parsed.success ? { ok: true, value: parsed.data } : rejected('InvalidHint', describeIssues(parsed.error));
}
