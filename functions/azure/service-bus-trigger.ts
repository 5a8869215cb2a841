/**
 * What every Service Bus-triggered function of the scheduler does around its handler.
 *
 * Invariants
 * B1 The message is completed only after the handler's writes are durable, or after a safe copy of it is (I6).
 * B2 A refused message is in the dead-letter queue with its reason after one delivery (C19, C20).
 * B3 A transient fault never burns the delivery count: the handler waits inside the lock, then a delayed copy of the
 *    message takes its place (T48).
 * B4 The body stays as the bytes that came until the handler reads it, and the metadata is the broker's. No value that a
 *    sender controls becomes the id of a copy: with the id of another message, duplicate detection would drop the copy.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { InvocationContext } from '@azure/functions';
import { rejection } from '../contracts/rejection.js';
import type { Rejection } from '../contracts/rejection.js';
import { addMs } from '../contracts/timestamp.js';
import { PermanentError, TransientError } from '../state/errors.js';
import { retryTransient } from '../state/retry.js';
import type { Clock, MessageRejector, QueueSender, ReceivedMessage, Telemetry } from '../state/ports.js';
import { preservedMessage } from './preserved-message.js';

/** What receiving needs. */
export interface TriggerDeps {
  readonly rejector: MessageRejector;
  readonly sender: QueueSender;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/** A trigger's invocation for one message of a queue. */
export interface Trigger {
  readonly queue: string;
  readonly body: unknown;
  readonly context: InvocationContext;
}

/** Handles a message; answers a refusal if the message breaks its contract. */
export type MessageHandler = (message: ReceivedMessage) => Promise<Rejection | undefined>;

/** Waits between tries while the message is locked; together well below the lock duration of a minute. */
const inLockWaitsMs = [200, 1_000, 4_000];

const firstRedeliveryMs = 5_000;
const maxRedeliveryMs = 60_000;

/** Properties of a delayed copy: how many copies came before it and itself, and the id that the sender gave the message. */
const redeliveryProperty = 'redelivery';
const originalIdProperty = 'originalMessageId';

/** How the ids of delayed copies begin; the runtime's id of the invocation follows, which no sender can know (B4). */
const copyIdPrefix = 'redelivery.';

/** Runs the handler for one message of a queue. Returning completes the message. */
export async function receive(trigger: Trigger, handler: MessageHandler, deps: TriggerDeps): Promise<void> {
  const message = receivedMessage(trigger);
  try {
    await handleOrReject(message, () => retryTransient(() => handler(message), inLockWaitsMs, delay), deps);
  } catch (error) {
    if (!(error instanceof TransientError)) throw error;
    await redeliverLater(message, trigger.context.invocationId, deps); // B3
  }
}

/**
 * Runs the handler once for one delivery of an agent request: the queue's maxDeliveryCount bounds how often, because each
 * delivery may call the remote service (R50). A fault abandons the message.
 */
export async function receiveOnce(trigger: Trigger, handler: MessageHandler, deps: TriggerDeps): Promise<void> {
  const message = receivedMessage(trigger);
  await handleOrReject(message, () => handler(message), deps);
}

async function handleOrReject(
  message: ReceivedMessage,
  work: () => Promise<Rejection | undefined>,
  deps: TriggerDeps,
): Promise<void> {
  const refusal = await permanentFaultAsRejection(work);
  if (refusal === undefined) return;
  await deps.rejector.reject(message, refusal); // B2
  deps.telemetry.event('message-rejected', { queue: message.queue, reason: refusal.reason });
  if (refusal.reason === 'UnsupportedSchemaVersion') deps.telemetry.alert('message-newer', { queue: message.queue });
}

async function permanentFaultAsRejection(work: () => Promise<Rejection | undefined>): Promise<Rejection | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error;
    return rejection('PermanentFault', `${error.code}: ${error.message}`);
  }
}

async function redeliverLater(message: ReceivedMessage, invocationId: string, deps: TriggerDeps): Promise<void> {
  const redelivery = message.redelivery + 1;
  const waitMs = Math.min(firstRedeliveryMs * 2 ** message.redelivery, maxRedeliveryMs);
  await deps.sender.send(message.queue, {
    ...preservedMessage(message, { [redeliveryProperty]: redelivery, [originalIdProperty]: message.messageId }),
    messageId: `${copyIdPrefix}${invocationId}`,
    notBefore: addMs(deps.clock.now(), waitMs),
  });
  deps.telemetry.event('message-redelivered', { queue: message.queue, redelivery });
}

function receivedMessage({ queue, body, context }: Trigger): ReceivedMessage {
  const metadata = context.triggerMetadata ?? {};
  const properties = (metadata['applicationProperties'] ?? {}) as Record<string, unknown>;
  const messageId = idText(metadata['messageId']) ?? context.invocationId;
  const isCopy = messageId.startsWith(copyIdPrefix);
  return {
    queue,
    body: bytesOf(body),
    contentType: idText(metadata['contentType']),
    messageId: (isCopy ? idText(properties[originalIdProperty]) : undefined) ?? messageId,
    correlationId: idText(metadata['correlationId']),
    brokerId: [metadata['sequenceNumber'], metadata['enqueuedTime'], messageId].map(String).join(' '),
    deliveryCount: Number(metadata['deliveryCount']),
    redelivery: isCopy ? redeliveryOf(properties) : 0,
    applicationProperties: properties,
  };
}

/** The triggers ask for bytes. A runtime that hands over something else is a fault of the registration, not of the message. */
function bytesOf(body: unknown): Uint8Array {
  if (body instanceof Uint8Array) return body;
  throw new TypeError("a queue trigger needs dataType: 'binary'; register it with onQueue or onRequestQueue");
}

/** A sender may have set the property to anything. */
function redeliveryOf(properties: Readonly<Record<string, unknown>>): number {
  const count = Number(properties[redeliveryProperty]);
  return Number.isSafeInteger(count) && count > 0 ? count : 0;
}

/** The runtime turns text that looks like a number into one (C21). */
function idText(id: unknown): string | undefined {
  return typeof id === 'string' || typeof id === 'number' || typeof id === 'boolean' ? String(id) : undefined;
}
