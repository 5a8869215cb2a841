/**
 * An agent's reply on its way to the attempt that waits for it (R95).
 *
 * Invariants
 * H1 The instance id is built from the validated order id and attempt, never taken from the message (C4, T18).
 * H2 A reply to an attempt that is still current, or that the record does not show yet, is not dropped: the message is
 *    delivered again (C9, T19).
 * H3 Late, duplicate and foreign replies are counted and completed, without alert (R16, C10, C52).
 * H4 A step that no workflow has is never raised as an event, so that nobody can fill a history with invented steps.
 */
import { parseAgentReply } from '../contracts/agent-reply.js';
import type { AgentReply, ReceivedReply } from '../contracts/agent-reply.js';
import { orchestrationInstanceId, replyEventName } from '../contracts/identifiers.js';
import type { Rejection } from '../contracts/rejection.js';
import { isEarlierThanAttempt } from '../state/earlier-version.js';
import { PermanentError, TransientError } from '../state/errors.js';
import { isKnownStep } from '../state/order-workflow.js';
import type { Clock, Orchestrations, ReceivedMessage, StateStore, Telemetry } from '../state/ports.js';
import { isTerminal } from '../state/state-record.js';

/** What agent-reply needs. */
export interface ReplyDeps {
  readonly orchestrations: Orchestrations;
  readonly store: StateStore;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/** A reply as far as it is needed here. */
type ReplyMessage = Pick<ReceivedMessage, 'redelivery'> & { readonly body: unknown };

/**
 * Hands a reply to its attempt.
 *
 * @returns the refusal of a reply that breaks the contract, otherwise nothing: the message is done
 * @throws TransientError when the reply must be delivered again
 */
export async function handleReply(message: ReplyMessage, deps: ReplyDeps): Promise<Rejection | undefined> {
  const parsed = parseAgentReply(message.body);
  if (!parsed.ok) return parsed.rejection;
  const reply = parsed.value;
  if (await isInventedStep(reply, deps.store)) {
    reportLate(reply, deps);
    return undefined;
  }
  const instanceId = orchestrationInstanceId(reply.orderId, reply.attempt);
  const received: ReceivedReply = { ...reply, receivedAt: deps.clock.now() };
  const raised = await deps.orchestrations.raiseEvent(instanceId, replyEventName(reply.stepId), received);
  if (raised === 'unknown') await settleUnknown(reply, message.redelivery, deps);
  else if (isKnownLate(reply, instanceId, deps)) reportLate(reply, deps);
  return undefined;
}

/** H4. A step that this build does not know may belong to a record that only a newer build can read. */
async function isInventedStep({ orderId, stepId }: AgentReply, store: StateStore): Promise<boolean> {
  if (isKnownStep(stepId)) return false;
  try {
    await store.getLatest(orderId);
    return true;
  } catch (error) {
    if (error instanceof PermanentError) return false;
    throw error;
  }
}

/** The runtime accepts events for finished instances silently, so the remembered record shows which are late. */
function isKnownLate({ orderId, attempt }: AgentReply, instanceId: string, { store }: ReplyDeps): boolean {
  const record = store.remembered(orderId)?.record;
  if (record === undefined || isEarlierThanAttempt(record, attempt)) return false;
  return record.lockedBy !== instanceId || isTerminal(record);
}

/** After so many delayed copies, five reads and ten seconds later, what the record shows is believed: the reply is foreign. */
const enoughRedeliveries = 1;

async function settleUnknown(reply: AgentReply, redelivery: number, deps: ReplyDeps): Promise<void> {
  const { orderId, attempt } = reply;
  const instanceId = orchestrationInstanceId(orderId, attempt);
  const record = (await deps.store.getLatest(orderId))?.record;
  const isCurrent = record?.lockedBy === instanceId && !isTerminal(record);
  if (isCurrent) throw new TransientError(`attempt ${instanceId} is current, but the runtime does not know it yet`); // H2
  const isShown = record !== undefined && !isEarlierThanAttempt(record, attempt);
  if (isShown || redelivery >= enoughRedeliveries) reportLate(reply, deps);
  else throw new TransientError(`attempt ${instanceId} is not visible yet`); // H2
}

function reportLate({ orderId, attempt, stepId }: AgentReply, { telemetry }: ReplyDeps): void {
  telemetry.event('reply-late', { orderId, attempt, stepId });
}
