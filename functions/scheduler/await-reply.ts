/**
 * The race of the agent's reply against a durable timer (R94).
 *
 * Invariants
 * W1 Whatever wins, no timer stays open: an open timer keeps the instance running (T21).
 * W2 A reply that was received after the deadline is a timeout, also when it wins the race: after an outage it may be read
 *    first (T14). One that was received in time counts, however late the runtime hands it over: the fence protects the order.
 * W3 Only the reply with this request's id and token counts; others are ignored and the race is run again, against a
 *    fresh timer to the same deadline (T15, T25).
 * W4 The history stays bounded: after so many replies that do not count, the attempt waits no longer.
 * W5 An agent that is an activity of this app gets its time anew if the runtime has used up half of it before the call.
 */
import type { OrchestrationContext, Task } from 'durable-functions';
import { parseReceivedReply } from '../contracts/agent-reply.js';
import type { AgentReply, ReceivedReply } from '../contracts/agent-reply.js';
import { replyEventName } from '../contracts/identifiers.js';
import type { AttemptEnding } from '../contracts/supervisor-hint.js';
import { addMs, msBetween, toTimestamp } from '../contracts/timestamp.js';
import type { Dispatched } from './attempt-messages.js';

/** How a step ended for the attempt that waits for it. `stopped`: its activity broke, so nothing is known of it. */
export type StepOutcome =
  | { readonly kind: 'replied'; readonly reply: AgentReply }
  | { readonly kind: AttemptEnding; readonly reply?: undefined };

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
    if (answer !== undefined) return inTime(context, answer, pending);
    if (isPast(context.df.currentUtcDateTime, pending)) return timedOut;
  }
  return timedOut;
}

/**
 * The agent is an activity of this app. No answer is an unknown outcome (R27). So is an activity that failed, but that is a
 * fault of our side (the process died, the store was away), and no failure of the order.
 */
function* awaitActivity(context: OrchestrationContext, given: PendingStep): Generator<Task, StepOutcome> {
  const pending = { ...given, dispatched: withTimeToAct(context, given.dispatched) };
  const { orderId, replyToken, dispatched } = pending;
  const { requestId, completeBy } = dispatched;
  const isDelayed = completeBy !== given.dispatched.completeBy;
  const input = { orderId, requestId, replyToken, ...(isDelayed ? { completeBy } : {}) };
  const work = context.df.callActivity(dispatched.agent, input);
  const hasWon = yield* winsRace(context, work, pending);
  if (work.isFaulted) return { kind: 'stopped' };
  const answer = hasWon ? expectedReply(work.result, pending) : undefined;
  return answer === undefined ? timedOut : inTime(context, answer, pending);
}

/** W5. The time of the step began with its dispatch; its agent is called only now. */
function withTimeToAct(context: OrchestrationContext, dispatched: Dispatched): Dispatched {
  const { completeBy, allottedMs } = dispatched;
  const now = toTimestamp(context.df.currentUtcDateTime);
  const hasTime = allottedMs === undefined || 2 * msBetween(now, completeBy) >= allottedMs;
  return hasTime ? dispatched : { ...dispatched, completeBy: addMs(now, allottedMs) };
}

function* winsRace(context: OrchestrationContext, task: Task, { dispatched }: PendingStep): Generator<Task, boolean> {
  const timer = context.df.createTimer(new Date(dispatched.completeBy));
  try {
    const winner: unknown = yield context.df.Task.any([task, timer]);
    return winner === task;
  } finally {
    if (!timer.isCompleted) timer.cancel(); // W1
  }
}

/** W2. A reply that an earlier build has handed over says nothing of when it was received. */
function inTime(
  context: OrchestrationContext,
  { receivedAt, ...reply }: ReceivedReply,
  pending: PendingStep,
): StepOutcome {
  const at = receivedAt === undefined ? context.df.currentUtcDateTime : new Date(receivedAt);
  return isPast(at, pending) ? timedOut : { kind: 'replied', reply };
}

function isPast(at: Date, { dispatched }: PendingStep): boolean {
  return at >= new Date(dispatched.completeBy);
}

function expectedReply(event: unknown, { replyToken, dispatched }: PendingStep): ReceivedReply | undefined {
  const parsed = parseReceivedReply(event);
  if (!parsed.ok) return undefined;
  const isExpected = parsed.value.requestId === dispatched.requestId && parsed.value.replyToken === replyToken;
  return isExpected ? parsed.value : undefined; // W3
}
