import type { ReceivedMessage } from '../state/ports.js';

/** The application properties of a received message that a message can carry when it is sent on. */
export function plainProperties(message: ReceivedMessage): Record<string, string | number | boolean> {
  const isPlain = (value: unknown): value is string | number | boolean =>
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  return Object.fromEntries(
    Object.entries(message.applicationProperties).flatMap(([name, value]) => (isPlain(value) ? [[name, value]] : [])),
  );
}
