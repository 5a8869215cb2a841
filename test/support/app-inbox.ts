/** What arrives in queues that a test reads to the end: every message, repeats included. */
import type { ServiceBusClient, ServiceBusReceivedMessage } from '@azure/service-bus';
import { statusQueueName } from '../../functions/contracts/identifiers.js';
import { statusMessageSchema } from '../../functions/contracts/status-message.js';
import type { StatusMessage } from '../../functions/contracts/status-message.js';

/** A message that was received, as far as tests look at it. */
export type Received = Pick<
  ServiceBusReceivedMessage,
  'messageId' | 'correlationId' | 'applicationProperties' | 'sequenceNumber'
> & { readonly body: unknown };

/** An open queue reader. */
export interface Inbox {
  readonly messages: readonly Received[];
  close(): Promise<void>;
}

/** Reads a queue as long as it is open; a broker that goes away meanwhile does not matter. */
export function openInbox(bus: ServiceBusClient, queue: string): Inbox {
  const messages: Received[] = [];
  const receiver = bus.createReceiver(queue);
  const subscription = receiver.subscribe({
    processMessage: (message) => {
      // The same message again, because the broker went away before it was completed; a repeat by the app has its own number.
      const isRedelivery = messages.some(({ sequenceNumber }) => message.sequenceNumber?.equals(sequenceNumber ?? -1));
      if (!isRedelivery) messages.push(message);
      return Promise.resolve();
    },
    processError: () => Promise.resolve(),
  });
  return {
    messages,
    close: async () => {
      await subscription.close();
      await receiver.close();
    },
  };
}

/** The status messages of an application. */
export interface StatusInbox {
  of(orderId: string): readonly StatusMessage[];
  /** The same messages with what is around their bodies. */
  received(orderId: string): readonly Received[];
  close(): Promise<void>;
}

/** Reads an application's own status queue; a message that breaks the contract fails the test that looks. */
export function openStatusInbox(bus: ServiceBusClient, application: string): StatusInbox {
  const inbox = openInbox(bus, statusQueueName(application));
  return {
    of: (orderId) =>
      inbox.messages.map(({ body }) => statusMessageSchema.parse(body)).filter((status) => status.orderId === orderId),
    received: (orderId) => inbox.messages.filter(({ correlationId }) => correlationId === orderId),
    close: () => inbox.close(),
  };
}
