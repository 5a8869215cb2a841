/** Settles a message under its lock; the same for a link and for $management. */
import { wireErrors, type WireError } from '../errors.js';
import type { EncodedProperty } from '../wire/application-properties.js';
import type { Namespace } from './namespace.js';
import type { Queue } from './queue.js';

/** What a receiver decided about a message. */
export interface Disposition {
  readonly kind: 'complete' | 'abandon' | 'release' | 'defer' | 'deadLetter';
  /** Application properties to set; not for complete and release. */
  readonly changes: readonly EncodedProperty[];
}

/** The lock to settle, and where. */
export interface LockedMessage {
  readonly namespace: Namespace;
  readonly queue: Queue;
  readonly token: string;
}

/** Settles; undefined when that was possible. */
export function settle(
  { namespace, queue, token }: LockedMessage,
  { kind, changes }: Disposition,
  now: number,
): WireError | undefined {
  const message = queue.findLocked(token, now);
  if (message === undefined) return wireErrors.lockLost();
  switch (kind) {
    case 'complete':
      queue.remove(message);
      return undefined;
    case 'abandon':
      queue.abandon(message, now, changes);
      return undefined;
    case 'release':
      queue.release(message, now);
      return undefined;
    case 'defer':
      queue.defer(message, changes);
      return undefined;
    case 'deadLetter':
      if (!queue.isDeadLetter) {
        namespace.deadLetter(queue, message, changes, now);
        return undefined;
      }
      queue.release(message, now);
      return wireErrors.notAllowed('A dead letter cannot be dead-lettered again; complete it, or send it to a queue.');
  }
}
