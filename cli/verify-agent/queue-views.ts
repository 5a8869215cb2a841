/** Queues seen without touching them. */
import type { ServiceBusClient, ServiceBusReceivedMessage } from '@azure/service-bus';

const pageSize = 100;

/** Messages as they come into a queue. */
export interface QueueView {
  /** Those that have come since the last look. */
  news(): Promise<readonly ServiceBusReceivedMessage[]>;
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
  return { news };
}

/** Whether messages that were sent are still in their queue, locked ones included. */
export interface Presence {
  isThere(messageId: string): Promise<boolean>;
}

/** Watches for messages that are sent from now on. */
export async function watchPresence(client: ServiceBusClient, queue: string): Promise<Presence> {
  const view = await followQueue(client, queue);
  const one = client.createReceiver(queue);
  const places = new Map<string, ServiceBusReceivedMessage['sequenceNumber']>();
  return {
    async isThere(messageId) {
      for (const { messageId: id, sequenceNumber } of await view.news()) places.set(String(id), sequenceNumber);
      const place = places.get(messageId);
      if (place === undefined) return false; // sent, and gone before the first look
      const [found] = await one.peekMessages(1, { fromSequenceNumber: place });
      return found?.messageId === messageId;
    },
  };
}
