import type { ServiceBusClient, ServiceBusMessage, ServiceBusSender } from '@azure/service-bus';
import type { OutgoingMessage, QueueSender } from '../state/ports.js';
import { hasAnswer, serviceBusError } from './errors.js';

/** A connected client with its senders, one link a queue. */
interface Connection {
  readonly client: ServiceBusClient;
  readonly senders: Map<string, ServiceBusSender>;
  readonly openedAt: number;
}

/** A connection this young is not replaced again: while the broker is down, a new one is no better. */
const minimumAgeMs = 1_000;

/** A replaced connection may still carry sends that others wait for. */
const closeAfterMs = 60_000;

/**
 * Sends over one Service Bus client.
 *
 * A client whose connection breaks while its first links are being opened never sends again, though it tries. So a send
 * that ended without an answer of the broker makes the next one use a new client.
 */
export function createQueueSender(connect: () => ServiceBusClient): QueueSender {
  let current: Connection | undefined;

  const connection = (): Connection => {
    current ??= { client: connect(), senders: new Map(), openedAt: Date.now() };
    return current;
  };

  const replaceIfDead = (used: Connection, error: unknown): void => {
    const isWorn = used === current && Date.now() - used.openedAt > minimumAgeMs;
    if (hasAnswer(error) || !isWorn) return;
    current = undefined;
    setTimeout(() => void used.client.close().catch(() => undefined), closeAfterMs).unref();
  };

  return {
    send: async (queue, message, signal) => {
      const used = connection();
      const sender = used.senders.get(queue) ?? used.client.createSender(queue);
      used.senders.set(queue, sender);
      try {
        await sender.sendMessages(toServiceBusMessage(message), signal === undefined ? {} : { abortSignal: signal });
      } catch (error) {
        replaceIfDead(used, error);
        throw serviceBusError(error);
      }
    },
  };
}

function toServiceBusMessage(message: OutgoingMessage): ServiceBusMessage {
  return {
    messageId: message.messageId,
    body: message.body,
    ...contentTypeOf(message),
    ...(message.correlationId === undefined ? {} : { correlationId: message.correlationId }),
    ...(message.timeToLiveMs === undefined ? {} : { timeToLive: message.timeToLiveMs }),
    ...(message.notBefore === undefined ? {} : { scheduledEnqueueTimeUtc: new Date(message.notBefore) }),
    ...(message.applicationProperties === undefined
      ? {}
      : { applicationProperties: { ...message.applicationProperties } }),
  };
}

function contentTypeOf({ body, contentType }: OutgoingMessage): Pick<ServiceBusMessage, 'contentType'> {
  if (!(body instanceof Uint8Array)) return { contentType: 'application/json' };
  return contentType === undefined ? {} : { contentType };
}
