import type { MessageRejector, QueueSender } from '../state/ports.js';
import { preservedMessage } from './preserved-message.js';

/** Dead-letter queue of a queue: the broker forwards its dead letters there too, so an operator has one place to look. */
export function deadLetterQueueName(queue: string): string {
  return `${queue}-dead-letter`;
}

/**
 * Rejects by sending the message to the dead-letter queue, in the form the broker itself gives to a dead letter. A Node
 * function cannot settle its own trigger message to the dead-letter queue (T49, decision 0004).
 */
export function createMessageRejector(sender: QueueSender): MessageRejector {
  return {
    reject: (message, { reason, description }) =>
      sender.send(deadLetterQueueName(message.queue), {
        ...preservedMessage(message, { DeadLetterReason: reason, DeadLetterErrorDescription: description }),
        messageId: message.messageId,
      }),
  };
}
