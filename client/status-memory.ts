/**
 * The newest status of each order, so that repeated and older messages can be told from news.
 *
 * Invariants
 * M1 A status is news only if its `seq` is greater than every one remembered for its order (T54). An order that was not
 *    taken has `seq` 0 and may be told so again after another try: then the later one is news.
 * M2 The memory is bounded: beyond its capacity, the order that was silent for longest is forgotten.
 */
import type { StatusMessage } from '../functions/contracts/status-message.js';

/** Newest statuses by order. */
export interface StatusMemory {
  isNews(status: StatusMessage): boolean;
  /** Keeps a status that is news. */
  remember(status: StatusMessage): void;
  newest(orderId: string): StatusMessage | undefined;
  /** Forgets an order, which is about to be tried again. */
  forget(orderId: string): void;
}

/** Creates a memory for at most `capacity` orders. */
export function createStatusMemory(capacity: number): StatusMemory {
  const newest = new Map<string, StatusMessage>();
  const isNews = (status: StatusMessage): boolean => isNewer(status, newest.get(status.orderId));
  return {
    isNews,
    remember(status) {
      if (!isNews(status)) return;
      newest.delete(status.orderId); // A map keeps the order of insertion: the first entry is the oldest.
      newest.set(status.orderId, status);
      const [oldest] = newest.keys();
      if (newest.size > capacity && oldest !== undefined) newest.delete(oldest); // M2
    },
    newest: (orderId) => newest.get(orderId),
    forget(orderId) {
      newest.delete(orderId);
    },
  };
}

/** M1 */
function isNewer(status: StatusMessage, known: StatusMessage | undefined): boolean {
  if (known === undefined || status.seq > known.seq) return true;
  return status.seq === 0 && known.seq === 0 && status.at > known.at;
}
