/**
 * What every Service Bus-triggered function of the scheduler does around its handler.
 *
 * Invariants
 * B1 The message is completed only after the handler's writes are durable, or after a safe copy of it is (I6).
 * B2 A refused message is in the dead-letter queue with its reason after one delivery (C19, C20).
 * B3 A transient fault never burns the delivery count: the handler waits inside the lock, then a delayed copy of the
 *    message takes its place (T48).
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { InvocationContext } from '@azure/functions';
import type { Rejection } from '../contracts/rejection.js';
import { addMs } from '../contracts/timestamp.js';
import { TransientError } from '../state/errors.js';
import type { Clock, MessageRejector, QueueSender, ReceivedMessage, Telemetry } from '../state/ports.js';

/** What receiving needs. */
export interface TriggerDeps {
  readonly rejector: MessageRejector;
  readonly sender: QueueSender;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/** Handles a message; answers a refusal if the message breaks its contract. */
export type MessageHandler = (message: ReceivedMessage) => Promise<Rejection | undefined>;

/** Waits between tries while the message is locked; together well below the lock duration of a minute. */
const inLockWaitsMs = [200, 1_000, 4_000];

const firstRedeliveryMs = 5_000;
const maxRedeliveryMs = 60_000;
const redeliveryProperty = 'redelivery';

/** Runs the handler for one message of a queue. Returning completes the message. */
export async function receive(
  trigger: { readonly queue: string; readonly body: unknown; readonly context: InvocationContext },
  handler: MessageHandler,
  deps: TriggerDeps,
): Promise<void> {
  const message = receivedMessage(trigger);
  try {
    const rejection = await tryInsideLock(() => handler(message));
    if (rejection === undefined) return;
    await deps.rejector.reject(message, rejection); // B2
    reportRejection(message.queue, rejection.reason, deps.telemetry);
  } catch (error) {
    if (!(error instanceof TransientError)) throw error;
    await redeliverLater(message, deps); // B3
  }
}

function reportRejection(queue: string, reason: Rejection['reason'], telemetry: Telemetry): void {
  telemetry.event('message-rejected', { queue, reason });
  if (reason === 'UnsupportedSchemaVersion') telemetry.alert('message-newer', { queue });
}

async function tryInsideLock(work: () => Promise<Rejection | undefined>): Promise<Rejection | undefined> {
  for (const waitMs of inLockWaitsMs) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof TransientError)) throw error;
      await delay(waitMs);
    }
  }
  return work();
}

async function redeliverLater(message: ReceivedMessage, deps: TriggerDeps): Promise<void> {
  const before = Number(message.applicationProperties[redeliveryProperty] ?? 0);
  const redelivery = before + 1;
  const waitMs = Math.min(firstRedeliveryMs * 2 ** before, maxRedeliveryMs);
  await deps.sender.send(message.queue, {
    // A new id each time: with the same one, duplicate detection would drop the copy.
    messageId: `${message.messageId.slice(0, 100)}.redelivery-${redelivery}`,
    body: message.body,
    ...(message.correlationId === undefined ? {} : { correlationId: message.correlationId }),
    applicationProperties: { [redeliveryProperty]: redelivery },
    notBefore: addMs(deps.clock.now(), waitMs),
  });
  deps.telemetry.event('message-redelivered', { queue: message.queue, redelivery });
}

function receivedMessage(trigger: Parameters<typeof receive>[0]): ReceivedMessage {
  const { messageId, correlationId, deliveryCount, applicationProperties } = trigger.context.triggerMetadata ?? {};
  return {
    queue: trigger.queue,
    body: trigger.body,
    messageId: idText(messageId) ?? trigger.context.invocationId,
    correlationId: idText(correlationId),
    deliveryCount: Number(deliveryCount),
    applicationProperties: (applicationProperties ?? {}) as Record<string, unknown>,
  };
}

/** The runtime turns text that looks like a number into one (C21). */
function idText(id: unknown): string | undefined {
  return typeof id === 'string' || typeof id === 'number' || typeof id === 'boolean' ? String(id) : undefined;
}
