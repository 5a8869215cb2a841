/** What the scheduler asks of an agent: do a step, or undo it (R13). */
import { z } from 'zod';
import { agentRequestId, attemptSchema, orderIdSchema, stepIdSchema } from './identifiers.js';
import { parseMessage } from './parse-message.js';
import { rejected } from './rejection.js';
import type { Parsed } from './rejection.js';
import { timestampSchema } from './timestamp.js';

export const agentRequestSchema = z.object({
  schemaVersion: z.literal(1),
  requestId: z.string(),
  orderId: orderIdSchema,
  attempt: attemptSchema,
  stepId: stepIdSchema,
  action: z.enum(['do', 'undo']),
  /** No new side effect is started after this time (R25). */
  completeBy: timestampSchema,
  /** How many calls to the remote service this request may make (R13, R50). */
  callAllowance: z.int().min(1),
  /** The same in every attempt (R23). */
  idempotencyKey: z.string(),
  /** The attempt number: the remote service refuses a lower one than it has seen (R101). */
  fencingToken: z.int().min(1),
  /** Comes back in the reply; a reply without it is foreign (T25). */
  replyToken: z.guid(),
  /** How many attempts of the order have failed at this step, or at this undo; absent in requests of earlier builds. */
  failures: z.int().min(0).optional(),
  /**
   * With `do`: what the remote service needs to know of the order, by step. With `undo`: the `result` of the reply to the
   * do; empty when none was recorded.
   */
  payload: z.record(z.string(), z.unknown()),
  traceparent: z.string().nullable(),
});

export type AgentRequest = z.infer<typeof agentRequestSchema>;

/** Reads an agent request. */
export function parseAgentRequest(body: unknown): Parsed<AgentRequest> {
  const parsed = parseMessage(agentRequestSchema, body, () => 'InvalidRequest');
  if (!parsed.ok) return parsed;
  const { requestId, orderId, attempt, stepId } = parsed.value;
  const idsAgree = requestId === agentRequestId(orderId, attempt, stepId);
  return idsAgree
    ? parsed
    : rejected('InvalidRequest', 'requestId: expected <orderId>.<attempt>.<stepId> of this request');
}
