import type { OutgoingMessage, ReceivedMessage } from '../state/ports.js';

type Properties = NonNullable<OutgoingMessage['applicationProperties']>;

/** What a received message keeps when it is sent on: bytes, content type, correlation id and properties, and more of these. */
export function preservedMessage(
  message: ReceivedMessage,
  furtherProperties: Properties,
): Omit<OutgoingMessage, 'messageId'> {
  const { body, contentType, correlationId } = message;
  return {
    body,
    contentType,
    ...(correlationId === undefined ? {} : { correlationId }),
    applicationProperties: { ...plainProperties(message), ...furtherProperties },
  };
}

/** The application properties that a message can carry. */
function plainProperties(message: ReceivedMessage): Properties {
  const isPlain = (value: unknown): value is string | number | boolean =>
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  return Object.fromEntries(
    Object.entries(message.applicationProperties).flatMap(([name, value]) => (isPlain(value) ? [[name, value]] : [])),
  );
}
