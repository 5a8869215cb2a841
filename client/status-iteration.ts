/** The feed as an async iteration. */
import type { StatusMessage } from '../functions/contracts/status-message.js';
import type { StatusFeed } from './status-feed.js';

interface Delivery {
  readonly status: StatusMessage;
  readonly handled: () => void;
  readonly left: () => void;
}

/**
 * Yields statuses as they come, until the signal aborts. A status counts as handled when the loop asks for the next; one
 * that the loop leaves behind (break, return, throw) stays on the queue, because nobody can know how far it came.
 */
export async function* iterateStatuses(
  feed: Pick<StatusFeed, 'subscribe'>,
  signal: AbortSignal,
): AsyncGenerator<StatusMessage, void, void> {
  const waiting: Delivery[] = [];
  let wake = (): void => undefined;
  const unsubscribe = feed.subscribe(
    (status) =>
      new Promise<void>((handled, reject) => {
        const left = (): void => {
          reject(new Error(`Status ${status.seq} of order ${status.orderId} was left on the queue.`));
        };
        waiting.push({ status, handled, left });
        wake();
      }),
  );
  const woken = (): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve;
    });
  const onAbort = (): void => {
    wake();
  };
  signal.addEventListener('abort', onAbort);
  try {
    while (!signal.aborted) {
      const next = waiting[0];
      if (next === undefined) {
        await woken();
        continue;
      }
      yield next.status;
      waiting.shift();
      next.handled();
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    unsubscribe();
    for (const { left } of waiting) left();
  }
}
