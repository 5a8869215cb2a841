import type { MessageRejector, QueueSender, ReceivedMessage } from '../state/ports.js';

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
        messageId: message.messageId,
        body: preservedBody(message.body),
        ...(message.correlationId === undefined ? {} : { correlationId: message.correlationId }),
        applicationProperties: {
          ...plainProperties(message),
          DeadLetterReason: reason,
          DeadLetterErrorDescription: description,
        },
      }),
  };
}

/** Text that is no JSON is kept as it came: sent as a string, the SDK would wrap it into JSON. */
function preservedBody(body: unknown): unknown {
  if (typeof body === 'string') return Buffer.from(body);
  return body === undefined ? Buffer.alloc(0) : body;
}

function plainProperties(message: ReceivedMessage): Record<string, string | number | boolean> {
  const isPlain = (value: unknown): value is string | number | boolean =>
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  return Object.fromEntries(
    Object.entries(message.applicationProperties).flatMap(([name, value]) => (isPlain(value) ? [[name, value]] : [])),
  );
}
