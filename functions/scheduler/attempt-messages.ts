/** What passes between the orchestrator and its activities: ids, step names, deadlines and small results only (T78, C37). */
import { z } from 'zod';
import { agentReplySchema } from '../contracts/agent-reply.js';
import { attemptSchema, orderIdSchema, stepIdSchema } from '../contracts/identifiers.js';
import { attemptEndingSchema } from '../contracts/supervisor-hint.js';
import { timestampSchema } from '../contracts/timestamp.js';
import { processStateSchema } from '../state/state-record.js';

/** Names under which the Durable functions are registered. */
export const durableNames = {
  orchestrator: 'orderOrchestrator',
  advance: 'advance',
  hintSupervisor: 'hintSupervisor',
} as const;

/** Input of an attempt's orchestration. */
export const attemptInputSchema = z.object({ orderId: orderIdSchema, attempt: attemptSchema });

const stepReplySchema = agentReplySchema.pick({
  stepId: true,
  requestId: true,
  outcome: true,
  result: true,
  error: true,
  uncertain: true,
  retryAfterMs: true,
});

export const advanceRequestSchema = z.object({
  orderId: orderIdSchema,
  instanceId: z.string(),
  replyToken: z.guid(),
  reply: stepReplySchema.optional(),
});

export type AdvanceRequest = z.infer<typeof advanceRequestSchema>;

export const advanceResultSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('dispatched'),
    stepId: stepIdSchema,
    requestId: z.string(),
    completeBy: timestampSchema,
    agent: z.string(),
    transport: z.enum(['queue', 'activity']),
    /** How much time the step was given. */
    allottedMs: z.int().min(0).optional(),
  }),
  z.object({ kind: z.literal('superseded') }),
  /** The store or the broker was away until the step's deadline had passed: the request was not sent. */
  z.object({ kind: z.literal('tooLate') }),
  z.object({ kind: z.literal('ended'), processState: processStateSchema }),
]);

export type AdvanceResult = z.infer<typeof advanceResultSchema>;
export type Dispatched = Extract<AdvanceResult, { kind: 'dispatched' }>;

/** Input of the hint activity: look at the order once its time is up, or at once if its attempt has stopped. */
export const hintInputSchema = z.object({
  orderId: orderIdSchema,
  requestId: z.string(),
  completeBy: timestampSchema,
  ending: attemptEndingSchema.default('timedOut'),
});

export type HintInput = z.infer<typeof hintInputSchema>;
