/**
 * The client of an application: submits orders, and reads what becomes of them from the application's own status queue.
 * README.md next to this file shows its use.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { ServiceBusClient } from '@azure/service-bus';
import type { StatusMessage } from '../functions/contracts/status-message.js';
import { ClientClosedError } from './errors.js';
import { iterateStatuses } from './status-iteration.js';
import { StatusFeed } from './status-feed.js';
import type { StatusHandler } from './status-feed.js';
import { createStatusMemory } from './status-memory.js';
import { submitOrder } from './submit-order.js';
import type { OrderDraft, SubmitOptions, SubmittedOrder } from './submit-order.js';
import { waitForStatus } from './wait-for-status.js';
import type { WaitOptions } from './wait-for-status.js';
import { inTime } from './in-time.js';

/** What a client is made of. */
export interface OrderClientOptions {
  /** A client of the namespace, which stays open; or a connection string, from which one is made and closed again. */
  readonly serviceBus: ServiceBusClient | string;
  /** The registered name of the application; its status queue is `status-<application>`. */
  readonly application: string;
  /** How long `submitOrder` tries while the broker does not answer; default 30 s. */
  readonly submitTimeoutMs?: number;
  /** How many statuses are handled at once, those of one order always one after the other; default 1. */
  readonly maxConcurrentStatuses?: number;
  /** Of how many orders the newest status is remembered, to tell repeats from news; default 10 000. */
  readonly rememberedOrders?: number;
  /** Told of errors in the background (a lost connection, a handler that throws); the client goes on by itself. */
  readonly onError?: (error: unknown) => void;
}

/** Submits orders and reads their statuses. */
export interface OrderClient {
  /**
   * Checks and sends an order. Safe to repeat with the same order: it counts once. After an `OrderRejected` it is a new
   * try, and so is each repeat of it; pass that status as `after`, unless this client has read it itself.
   */
  submitOrder(order: OrderDraft, options?: SubmitOptions): Promise<SubmittedOrder>;
  /**
   * Resolves with the awaited status, or with the order's end if that comes instead. While it waits, it takes the
   * statuses of all the application's orders; without a subscription that keeps them, they are only remembered.
   */
  waitForStatus(orderId: string, options?: WaitOptions): Promise<StatusMessage>;
  /**
   * Calls the handler with each news until the returned function is called. A handler that throws sees the status again
   * after a pause, for as long as the status lives; the statuses of other orders go on meanwhile.
   */
  subscribe(handler: StatusHandler): () => void;
  /** The news as an async iteration; ends when the client is closed. */
  statuses(): AsyncIterable<StatusMessage>;
  /** Waits for running handlers, then closes what the client opened. Not to be awaited inside a handler. */
  close(): Promise<void>;
}

/** One server-busy would cost the SDK's default of 30 s; an application's user does not wait that long. */
const retryOptions = { maxRetries: 1, retryDelayInMs: 500, timeoutInMs: 5_000 };

/** Creates the client of an application. Connects with the first use. */
export function createOrderClient(options: OrderClientOptions): OrderClient {
  const { application, serviceBus, onError = () => undefined, submitTimeoutMs = 30_000 } = options;
  const ownsClient = typeof serviceBus === 'string';
  const client = ownsClient ? new ServiceBusClient(serviceBus, { retryOptions }) : serviceBus;
  const sender = client.createSender('orders');
  const memory = createStatusMemory(options.rememberedOrders ?? 10_000);
  const feed = new StatusFeed({
    client,
    application,
    memory,
    maxConcurrent: options.maxConcurrentStatuses ?? 1,
    onError,
    pause: (milliseconds, signal) => delay(milliseconds, undefined, { signal }).catch(() => undefined),
  });
  const closing = new AbortController();
  const closed = closing.signal;
  const whileOpen = <Result>(use: () => Result): Result => {
    closed.throwIfAborted();
    return use();
  };
  return {
    submitOrder(order, given = {}) {
      const target = { application, sender, memory, timeoutMs: submitTimeoutMs, signal: closed };
      return submitOrder(order, { ...given, ...target });
    },
    waitForStatus: (orderId, wait = {}) => waitForStatus(orderId, wait, { feed, memory, closed }),
    subscribe: (handler) => whileOpen(() => feed.subscribe(handler)),
    statuses: () => whileOpen(() => iterateStatuses(feed, closed)),
    async close() {
      closing.abort(new ClientClosedError());
      await feed.close();
      await inTime(sender.close());
      if (ownsClient) await inTime(client.close());
    },
  };
}
