/**
 * What an agent answers. A definite no is `refused`, an unrecoverable fault is `failed`; *not now, and nothing was done*
 * is `deferred` (T67). An unknown outcome gets no reply at all and becomes a timeout (R27, T23).
 */
import { z } from 'zod';
import { agentRequestId, attemptSchema, orderIdSchema, stepIdSchema } from './identifiers.js';
import { parseMessage } from './parse-message.js';
import { rejected } from './rejection.js';
import type { Parsed } from './rejection.js';
import { timestampSchema } from './timestamp.js';

/** Longest error message that travels in a reply, in characters. */
export const maxReplyMessageLength = 500;

/** Longest text in a result, in characters. */
export const maxResultTextLength = 256;

/** Longest time after which an agent may ask to be asked again, in milliseconds: a day. */
export const maxRetryAfterMs = 86_400_000;

/** A small flat object of references (T27): what does not fit belongs into a store of the agent's own. */
const stepResultSchema = z
  .record(z.string().max(64), z.union([z.string().max(maxResultTextLength), z.number(), z.boolean()]))
  .refine((result) => Object.keys(result).length <= 20, 'expected at most 20 fields');

const stepErrorSchema = z.object({
  code: z.string().regex(/^[A-Za-z][A-Za-z0-9]{0,63}$/, 'expected a code of 1 to 64 letters and digits'),
  message: z.string().transform((message) => message.slice(0, maxReplyMessageLength)),
});

export const agentReplySchema = z.object({
  schemaVersion: z.literal(1),
  requestId: z.string(),
  replyToken: z.guid(),
  orderId: orderIdSchema,
  attempt: attemptSchema,
  stepId: stepIdSchema,
  outcome: z.enum(['succeeded', 'refused', 'failed', 'deferred']),
  result: stepResultSchema.optional(),
  error: stepErrorSchema.optional(),
  /**
   * With `refused`, `failed` and `deferred`: an earlier call or delivery of this request may have had an effect all the same.
   * What is uncertain is undone (T71).
   */
  uncertain: z.boolean().optional(),
  /** With `deferred`: when to ask again, in milliseconds. */
  retryAfterMs: z.int().min(0).max(maxRetryAfterMs).optional(),
});

/** A reply as it is handed to the attempt that waits for it: with the time at which the scheduler received it. */
export const receivedReplySchema = agentReplySchema.extend({ receivedAt: timestampSchema.optional() });

export type StepResult = z.infer<typeof stepResultSchema>;
export type StepError = z.infer<typeof stepErrorSchema>;
export type AgentReply = z.infer<typeof agentReplySchema>;
export type ReceivedReply = z.infer<typeof receivedReplySchema>;

/** Reads an agent's reply; its ids must agree with each other (C4). */
export function parseAgentReply(body: unknown): Parsed<AgentReply> {
  return parseReply(agentReplySchema, body);
}

/** Reads a reply as it was handed to its attempt. */
export function parseReceivedReply(event: unknown): Parsed<ReceivedReply> {
  return parseReply(receivedReplySchema, event);
}

function parseReply<Reply extends AgentReply>(schema: z.ZodType<Reply>, body: unknown): Parsed<Reply> {
  const parsed = parseMessage(schema, body, () => 'InvalidReply');
  if (!parsed.ok) return parsed;
  const { requestId, orderId, attempt, stepId } = parsed.value;
  const idsAgree = requestId === agentRequestId(orderId, attempt, stepId);
  return idsAgree ? parsed : rejected('InvalidReply', 'requestId: expected <orderId>.<attempt>.<stepId> of this reply');
}
