/** What of a received message is kept when it is sent on. */
import type { ReceivedMessage } from '../state/ports.js';

/** Text that is no JSON is kept as it came: sent as a string, the SDK would wrap it into JSON. */
export function preservedBody(body: unknown): unknown {
  if (typeof body === 'string') return Buffer.from(body);
  return body === undefined ? Buffer.alloc(0) : body;
}

/** The application properties that a message may carry. */
export function plainProperties(message: ReceivedMessage): Record<string, string | number | boolean> {
  const isPlain = (value: unknown): value is string | number | boolean =>
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  return Object.fromEntries(
    Object.entries(message.applicationProperties).flatMap(([name, value]) => (isPlain(value) ? [[name, value]] : [])),
  );
}
