import type { ServiceBusClient, ServiceBusMessage, ServiceBusSender } from '@azure/service-bus';
import type { OutgoingMessage, QueueSender } from '../state/ports.js';
import { serviceBusError } from './errors.js';

/** Sends over one Service Bus client, with one link a queue. */
export function createQueueSender(client: ServiceBusClient): QueueSender {
  const senders = new Map<string, ServiceBusSender>();
  const senderOf = (queue: string): ServiceBusSender => {
    const sender = senders.get(queue) ?? client.createSender(queue);
    senders.set(queue, sender);
    return sender;
  };
  return {
    send: async (queue, message, signal) => {
      try {
        await senderOf(queue).sendMessages(
          toServiceBusMessage(message),
          signal === undefined ? {} : { abortSignal: signal },
        );
      } catch (error) {
        throw serviceBusError(error);
      }
    },
  };
}

function toServiceBusMessage(message: OutgoingMessage): ServiceBusMessage {
  return {
    messageId: message.messageId,
    body: message.body,
    ...(message.body instanceof Uint8Array ? {} : { contentType: 'application/json' }),
    ...(message.correlationId === undefined ? {} : { correlationId: message.correlationId }),
    ...(message.timeToLiveMs === undefined ? {} : { timeToLive: message.timeToLiveMs }),
    ...(message.notBefore === undefined ? {} : { scheduledEnqueueTimeUtc: new Date(message.notBefore) }),
    ...(message.applicationProperties === undefined
      ? {}
      : { applicationProperties: { ...message.applicationProperties } }),
  };
}
