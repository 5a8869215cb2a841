/** Waiting for one order. */
import type { StatusKind, StatusMessage } from '../functions/contracts/status-message.js';
import { StatusTimeoutError } from './errors.js';
import type { StatusFeed } from './status-feed.js';
import type { StatusMemory } from './status-memory.js';

/** Statuses after which nothing comes, unless an operator takes the order up again. */
const finalStatuses: readonly StatusKind[] = ['OrderRejected', 'OrderCompleted', 'OrderFailed'];

/** True when the order has ended. */
export function isFinal({ status }: StatusMessage): boolean {
  return finalStatuses.includes(status);
}

/** How long to wait, and for what. */
export interface WaitOptions {
  /** The status to wait for; default: the order's end, whichever it is. */
  readonly until?: StatusKind;
  /** Default 60 s. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** Where statuses come from. */
export interface StatusSource {
  readonly feed: Pick<StatusFeed, 'follow'>;
  readonly memory: Pick<StatusMemory, 'newest'>;
  /** Aborts when the client is closed. */
  readonly closed: AbortSignal;
}

/** Resolves with the awaited status, or with the order's end if that comes instead. */
export async function waitForStatus(
  orderId: string,
  options: WaitOptions,
  { feed, memory, closed }: StatusSource,
): Promise<StatusMessage> {
  const { until, timeoutMs = 60_000, signal } = options;
  const isAwaited = (status: StatusMessage): boolean => status.status === until || isFinal(status);
  const known = memory.newest(orderId);
  if (known !== undefined && isAwaited(known)) return known;

  const timeout = AbortSignal.timeout(timeoutMs);
  const ended = AbortSignal.any([closed, timeout, ...(signal === undefined ? [] : [signal])]);
  ended.throwIfAborted();
  let unfollow = (): void => undefined;
  try {
    return await new Promise<StatusMessage>((resolve, reject) => {
      unfollow = feed.follow((status) => {
        if (status.orderId === orderId && isAwaited(status)) resolve(status);
      });
      ended.addEventListener('abort', () => {
        reject(timeout.aborted ? new StatusTimeoutError(orderId, timeoutMs, memory.newest(orderId)) : reasonOf(ended));
      });
    });
  } finally {
    unfollow();
  }
}

function reasonOf(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error(String(signal.reason));
}
