/**
 * Step 4 of the article: one orchestration an attempt. It does not know the workflow, which is data read by *advance*;
 * so a deployment that changes the workflow cannot break the replay of a running attempt.
 *
 * Invariants
 * OR1 Only ids, step names, deadlines and small results enter the history (T78).
 * OR2 A timed-out attempt writes nothing: the record stays Processing and expired, for the supervisor (R99, R100).
 * OR3 The output of an attempt says whether its step timed out, which is a failure of the order, or something broke on our
 *     side, which is none.
 */
import { RetryOptions } from 'durable-functions';
import type { OrchestrationContext, Task } from 'durable-functions';
import type { AttemptEnding } from '../contracts/supervisor-hint.js';
import { awaitReply } from './await-reply.js';
import type { StepOutcome } from './await-reply.js';
import { advanceResultSchema, attemptInputSchema, durableNames } from './attempt-messages.js';
import type { AdvanceRequest, AdvanceResult, Dispatched } from './attempt-messages.js';

type AttemptResult = Exclude<AdvanceResult, Dispatched> | { readonly kind: AttemptEnding };

/**
 * Transient faults of an advance, such as a store that is away: after 1 s, 2 s, 4 s, 8 s and then each 10 s, for about ten
 * minutes. The fence decides whether the order is still this attempt's when one succeeds.
 */
const advanceRetry = new RetryOptions(1_000, 64);
advanceRetry.backoffCoefficient = 2;
advanceRetry.maxRetryIntervalInMilliseconds = 10_000;

/** Runs one attempt of an order: advance, await the reply, until the attempt is over. */
export function* orderOrchestrator(context: OrchestrationContext): Generator<Task, AttemptResult> {
  const { orderId } = attemptInputSchema.parse(context.df.getInput());
  const { instanceId } = context.df;
  let outcome: StepOutcome | undefined;
  for (let turn = 1; ; turn += 1) {
    const replyToken = context.df.newGuid(`${instanceId}.${turn}`);
    const next = yield* advance(context, { orderId, instanceId, replyToken, reply: outcome?.reply });
    if (next.kind !== 'dispatched') return next;
    outcome = yield* awaitReply(context, { orderId, replyToken, dispatched: next });
    if (outcome.kind !== 'replied') {
      yield* hintSupervisor(context, { orderId, ending: outcome.kind, waitedFor: next });
      return { kind: outcome.kind };
    }
  }
}

function* advance(context: OrchestrationContext, request: AdvanceRequest): Generator<Task, AdvanceResult> {
  const result: unknown = yield context.df.callActivityWithRetry(durableNames.advance, advanceRetry, request);
  return advanceResultSchema.parse(result);
}

/** Detection need not wait for the supervisor's interval. Only a hint: when it fails, the scan finds the order. */
function* hintSupervisor(
  context: OrchestrationContext,
  { orderId, ending, waitedFor }: { orderId: string; ending: AttemptEnding; waitedFor: Dispatched },
): Generator<Task, void> {
  const { requestId, completeBy } = waitedFor;
  const hint = { orderId, requestId, completeBy, ...(ending === 'timedOut' ? {} : { ending }) };
  try {
    yield context.df.callActivity(durableNames.hintSupervisor, hint);
  } catch {
    return;
  }
}
