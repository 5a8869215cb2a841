/** Queues seen without touching them. */
import type { ServiceBusClient, ServiceBusReceivedMessage } from '@azure/service-bus';

const pageSize = 100;

/** Messages as they come into a queue. */
export interface QueueView {
  /** Those that have come since the last look. */
  news(): Promise<readonly ServiceBusReceivedMessage[]>;
  /** Whether a message that has come is still there, locked or not. */
  holds(message: ServiceBusReceivedMessage): Promise<boolean>;
}

/** Follows a queue from now on; what lies there already is passed over. */
export async function followQueue(client: ServiceBusClient, queue: string): Promise<QueueView> {
  const receiver = client.createReceiver(queue);
  // A peek goes on where the receiver's last one ended.
  const news = async (): Promise<readonly ServiceBusReceivedMessage[]> => {
    const found: ServiceBusReceivedMessage[] = [];
    for (;;) {
      const page = await receiver.peekMessages(pageSize);
      if (page.length === 0) return found;
      found.push(...page);
    }
  };
  await news();
  const one = client.createReceiver(queue);
  return {
    news,
    async holds({ messageId, sequenceNumber }) {
      if (sequenceNumber === undefined) return false;
      const [found] = await one.peekMessages(1, { fromSequenceNumber: sequenceNumber });
      return found?.messageId === messageId;
    },
  };
}

/** Whether messages that were sent are still in their queue, locked ones included. */
export interface Presence {
  isThere(messageId: string): Promise<boolean>;
}

/** Watches for messages that are sent from now on. */
export async function watchPresence(client: ServiceBusClient, queue: string): Promise<Presence> {
  const view = await followQueue(client, queue);
  const seen = new Map<string, ServiceBusReceivedMessage>();
  return {
    async isThere(messageId) {
      for (const message of await view.news()) seen.set(String(message.messageId), message);
      const message = seen.get(messageId);
      return message !== undefined && view.holds(message); // never seen: gone before the first look
    },
  };
}
