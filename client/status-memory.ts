/**
 * The newest status of each order, so that repeated and older messages can be told from news, and so that a new try of a
 * rejected order refers to its rejection.
 *
 * Invariants
 * M1 A status is news only if its `seq` is greater than every one remembered for its order (T54). A rejected order has
 *    `seq` 0 and may be rejected again after another try: then the later rejection is news.
 * M2 The memory is bounded: beyond its capacity, the order that was silent for longest is forgotten.
 * M3 A rejection stays known after the order was tried again: each repeat of that try refers to the same rejection, and
 *    the rejection, delivered once more, is not news.
 */
import type { StatusMessage } from '../functions/contracts/status-message.js';

/** Newest statuses by order. */
export interface StatusMemory {
  isNews(status: StatusMessage): boolean;
  /** Keeps a status that is news. */
  remember(status: StatusMessage): void;
  /** The newest status of an order, unless it is a rejection after which the order was tried again. */
  newest(orderId: string): StatusMessage | undefined;
  /** The newest status of an order if it is a rejection, whether the order was tried again or not (M3). */
  rejection(orderId: string): StatusMessage | undefined;
  /** Notes that the order was tried again after this rejection. A later rejection is left as it is. */
  markTriedAgain(rejection: StatusMessage): void;
}

interface Entry {
  readonly status: StatusMessage;
  readonly wasTriedAgain: boolean;
}

/** Creates a memory for at most `capacity` orders. */
export function createStatusMemory(capacity: number): StatusMemory {
  const entries = new Map<string, Entry>();
  const isNews = (status: StatusMessage): boolean => isNewer(status, entries.get(status.orderId)?.status);
  return {
    isNews,
    remember(status) {
      if (!isNews(status)) return;
      entries.delete(status.orderId); // A map keeps the order of insertion: the first entry is the oldest.
      entries.set(status.orderId, { status, wasTriedAgain: false });
      const [oldest] = entries.keys();
      if (entries.size > capacity && oldest !== undefined) entries.delete(oldest); // M2
    },
    newest(orderId) {
      const entry = entries.get(orderId);
      return entry?.wasTriedAgain === true ? undefined : entry?.status;
    },
    rejection(orderId) {
      const status = entries.get(orderId)?.status;
      return status?.status === 'OrderRejected' ? status : undefined;
    },
    markTriedAgain(rejection) {
      const { orderId, at } = rejection;
      if (this.rejection(orderId)?.at === at) entries.set(orderId, { status: rejection, wasTriedAgain: true });
    },
  };
}

/** M1 */
function isNewer(status: StatusMessage, known: StatusMessage | undefined): boolean {
  if (known === undefined || status.seq > known.seq) return true;
  return status.seq === 0 && known.seq === 0 && status.at > known.at;
}
