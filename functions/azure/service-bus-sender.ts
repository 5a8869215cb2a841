import type { ServiceBusClient, ServiceBusMessage, ServiceBusSender } from '@azure/service-bus';
import type { OutgoingMessage, QueueSender } from '../state/ports.js';
import { hasAnswer, serviceBusError } from './errors.js';

/** A connected client with its senders, one link a queue. */
interface Connection {
  readonly client: ServiceBusClient;
  readonly senders: Map<string, ServiceBusSender>;
  readonly openedAt: number;
  /** When the broker last answered on it, also with a refusal. */
  answeredAt: number;
  /** Since when sends have ended without an answer, and none with one. */
  silentSince: number | undefined;
}

/** A connection this young is not replaced again: while the broker is down, a new one is no better. */
const minimumAgeMs = 1_000;

/** After this time without any answer a connection counts as dead, even if its callers had less patience. */
const maxSilenceMs = 10_000;

/** A replaced connection may still carry sends that others wait for. */
const closeAfterMs = 60_000;

/**
 * Sends over one Service Bus client.
 *
 * A client whose connection breaks while its first links are being opened never sends again, though it tries. So a send
 * that ended without an answer of the broker makes the next one use a new client, unless another send has been answered
 * meanwhile: then only one queue is slow. A caller that gave up early proves nothing by itself.
 */
export function createQueueSender(connect: () => ServiceBusClient): QueueSender {
  let current: Connection | undefined;

  const connection = (): Connection => {
    const now = Date.now();
    current ??= { client: connect(), senders: new Map(), openedAt: now, answeredAt: 0, silentSince: undefined };
    return current;
  };

  const noteAnswer = (used: Connection): void => {
    used.answeredAt = Date.now();
    used.silentSince = undefined;
  };

  const replaceIfDead = (used: Connection, startedAt: number, isGivenUp: boolean): void => {
    if (used.answeredAt >= startedAt) return;
    used.silentSince ??= startedAt;
    const now = Date.now();
    const isSilent = !isGivenUp || now - used.silentSince >= maxSilenceMs;
    const isWorn = used === current && now - used.openedAt > minimumAgeMs;
    if (!isSilent || !isWorn) return;
    current = undefined;
    setTimeout(() => void used.client.close().catch(() => undefined), closeAfterMs).unref();
  };

  return {
    send: async (queue, message, signal) => {
      const used = connection();
      const startedAt = Date.now();
      const sender = used.senders.get(queue) ?? used.client.createSender(queue);
      used.senders.set(queue, sender);
      try {
        await sender.sendMessages(toServiceBusMessage(message), signal === undefined ? {} : { abortSignal: signal });
        noteAnswer(used);
      } catch (error) {
        if (hasAnswer(error)) noteAnswer(used);
        else replaceIfDead(used, startedAt, signal?.aborted === true);
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
