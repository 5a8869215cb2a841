/**
 * The race of the agent's reply against a durable timer (R94).
 *
 * Invariants
 * W1 Whatever wins, no timer stays open: an open timer keeps the instance running (T21).
 * W2 A reply that wins after the deadline has passed is a timeout: after an outage the reply may be read first (T14).
 * W3 Only the reply with this request's id and token counts; others are ignored and the race is run again, against a
 *    fresh timer to the same deadline (T15, T25).
 * W4 The history stays bounded: after so many replies that do not count, the attempt waits no longer.
 */
import type { OrchestrationContext, Task } from 'durable-functions';
import { parseAgentReply } from '../contracts/agent-reply.js';
import type { AgentReply } from '../contracts/agent-reply.js';
import { replyEventName } from '../contracts/identifiers.js';
import type { Dispatched } from './attempt-messages.js';

/** How a step ended for the attempt that waits for it. */
export type StepOutcome =
  { readonly kind: 'replied'; readonly reply: AgentReply } | { readonly kind: 'timedOut'; readonly reply?: undefined };

/** The step that is waited for. */
export interface PendingStep {
  readonly orderId: string;
  readonly replyToken: string;
  readonly dispatched: Dispatched;
}

const timedOut: StepOutcome = { kind: 'timedOut' };

/** W4: each ignored reply costs the history an event, a timer and a turn. */
const maxIgnoredReplies = 20;

/** Waits for the reply to the dispatched step, at most until its completeBy. */
export function* awaitReply(context: OrchestrationContext, pending: PendingStep): Generator<Task, StepOutcome> {
  if (pending.dispatched.transport === 'activity') return yield* awaitActivity(context, pending);
  for (let ignored = 0; ignored <= maxIgnoredReplies; ignored += 1) {
    const reply = context.df.waitForExternalEvent(replyEventName(pending.dispatched.stepId));
    if (!(yield* winsRace(context, reply, pending))) return timedOut;
    const answer = expectedReply(reply.result, pending);
    if (answer !== undefined) return { kind: 'replied', reply: answer };
  }
  return timedOut;
}

/** The agent is an activity of this app. No answer, also from an agent that broke, is an unknown outcome (R27). */
function* awaitActivity(context: OrchestrationContext, pending: PendingStep): Generator<Task, StepOutcome> {
  const { orderId, replyToken, dispatched } = pending;
  const work = context.df.callActivity(dispatched.agent, { orderId, requestId: dispatched.requestId, replyToken });
  try {
    if (!(yield* winsRace(context, work, pending))) return timedOut;
  } catch {
    return timedOut;
  }
  const answer = expectedReply(work.result, pending);
  return answer === undefined ? timedOut : { kind: 'replied', reply: answer };
}

function* winsRace(context: OrchestrationContext, task: Task, { dispatched }: PendingStep): Generator<Task, boolean> {
  const deadline = new Date(dispatched.completeBy);
  const timer = context.df.createTimer(deadline);
  try {
    const winner: unknown = yield context.df.Task.any([task, timer]);
    const isLate = context.df.currentUtcDateTime >= deadline;
    return winner === task && !isLate; // W2
  } finally {
    if (!timer.isCompleted) timer.cancel(); // W1
  }
}

function expectedReply(event: unknown, { replyToken, dispatched }: PendingStep): AgentReply | undefined {
  const parsed = parseAgentReply(event);
  if (!parsed.ok) return undefined;
  const isExpected = parsed.value.requestId === dispatched.requestId && parsed.value.replyToken === replyToken;
  return isExpected ? parsed.value : undefined; // W3
}
