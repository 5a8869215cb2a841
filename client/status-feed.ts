/**
 * The application's status queue as a feed of news.
 *
 * Invariants
 * F1 A message is completed only after every handler has finished with it; if one fails, it is delivered again.
 * F2 Handlers see each order's statuses one after the other, each `seq` once and none after a greater one (T54).
 * F3 Messages are taken only while somebody handles or follows them, so none is completed unseen.
 */
import type { ServiceBusClient, ServiceBusReceivedMessage, ServiceBusReceiver } from '@azure/service-bus';
import { statusQueueName } from '../functions/contracts/identifiers.js';
import { decodeMessageBody } from '../functions/contracts/message-body.js';
import { describeIssues } from '../functions/contracts/rejection.js';
import { statusMessageSchema } from '../functions/contracts/status-message.js';
import type { StatusMessage } from '../functions/contracts/status-message.js';
import { inTime } from './in-time.js';
import type { StatusMemory } from './status-memory.js';

/** Takes one status. The message is completed when it returns, or when its promise resolves. */
export type StatusHandler = (status: StatusMessage) => void | Promise<void>;

/** Is told of a status that has been handled. */
export type StatusFollower = (status: StatusMessage) => void;

/** What a feed is made of. */
export interface FeedSetup {
  readonly client: ServiceBusClient;
  readonly application: string;
  readonly memory: StatusMemory;
  /** How many orders' statuses are handled at the same time. */
  readonly maxConcurrent: number;
  /** Told of what went wrong in the background; the feed goes on. */
  readonly onError: (error: unknown) => void;
}

interface Reception {
  readonly receiver: ServiceBusReceiver;
  readonly subscription: { close(): Promise<void> };
  /** Messages that handlers work on, and those that are being settled. */
  readonly handling: Set<Promise<unknown>>;
  readonly settling: Set<Promise<unknown>>;
}

/** What is to become of a message. */
type Verdict = { readonly kind: 'complete' | 'abandon' } | { readonly kind: 'setAside'; readonly description: string };

/** Receives while it is used. */
export class StatusFeed {
  readonly #setup: FeedSetup;
  readonly #handlers = new Set<StatusHandler>();
  readonly #followers = new Set<StatusFollower>();
  readonly #lastOfOrder = new Map<string, Promise<boolean>>();
  readonly #endings = new Set<Promise<unknown>>();
  #reception: Reception | undefined;

  constructor(setup: FeedSetup) {
    this.#setup = setup;
  }

  /** Adds a handler; returns what removes it. */
  subscribe(handler: StatusHandler): () => void {
    return this.#join(this.#handlers, handler);
  }

  /** Calls the follower with each news that all handlers have finished with; returns what ends that. */
  follow(follower: StatusFollower): () => void {
    return this.#join(this.#followers, follower);
  }

  /** Ends all deliveries and waits until what is in hand is settled. */
  async close(): Promise<void> {
    this.#handlers.clear();
    this.#followers.clear();
    this.#endReception();
    await Promise.all(this.#endings);
  }

  get #isUsed(): boolean {
    return this.#handlers.size + this.#followers.size > 0;
  }

  #join<User>(users: Set<User>, user: User): () => void {
    users.add(user);
    this.#reception ??= this.#receive();
    return () => {
      users.delete(user);
      if (!this.#isUsed) this.#endReception(); // F3
    };
  }

  #receive(): Reception {
    const { client, application, maxConcurrent, onError } = this.#setup;
    const receiver = client.createReceiver(statusQueueName(application));
    const handling = new Set<Promise<unknown>>();
    const settling = new Set<Promise<unknown>>();
    const subscription = receiver.subscribe(
      {
        processMessage: async (message) => {
          const verdict = await tracked(handling, this.#judge(message));
          await tracked(settling, settle(receiver, message, verdict).catch(onError));
        },
        processError: ({ error }) => {
          onError(error);
          return Promise.resolve();
        },
      },
      { autoCompleteMessages: false, maxConcurrentCalls: maxConcurrent },
    );
    return { receiver, subscription, handling, settling };
  }

  #endReception(): void {
    const ending = this.#reception;
    this.#reception = undefined;
    if (ending !== undefined) void tracked(this.#endings, end(ending).catch(this.#setup.onError));
  }

  async #judge({ body }: ServiceBusReceivedMessage): Promise<Verdict> {
    const parsed = statusMessageSchema.safeParse(decodeMessageBody(body));
    if (!parsed.success) return { kind: 'setAside', description: describeIssues(parsed.error) };
    return { kind: (await this.#afterEarlier(parsed.data)) ? 'complete' : 'abandon' }; // F1
  }

  /** Waits for the order's earlier statuses, then has this one handled (F2). */
  async #afterEarlier(status: StatusMessage): Promise<boolean> {
    const earlier = this.#lastOfOrder.get(status.orderId) ?? Promise.resolve(true);
    const handling = earlier.then(() => this.#handle(status));
    this.#lastOfOrder.set(status.orderId, handling);
    const isDone = await handling;
    if (this.#lastOfOrder.get(status.orderId) === handling) this.#lastOfOrder.delete(status.orderId);
    return isDone;
  }

  async #handle(status: StatusMessage): Promise<boolean> {
    const { memory, onError } = this.#setup;
    if (!memory.isNews(status)) return true;
    if (!this.#isUsed) return false; // F3
    const outcomes = await Promise.allSettled([...this.#handlers].map(async (handler) => handler(status)));
    const failures = outcomes.filter((outcome) => outcome.status === 'rejected');
    for (const { reason } of failures) onError(reason);
    if (failures.length > 0) return false;
    memory.remember(status);
    for (const follower of this.#followers) follower(status);
    return true;
  }
}

async function end({ receiver, subscription, handling, settling }: Reception): Promise<void> {
  await subscription.close();
  await Promise.all(handling);
  await inTime(Promise.all(settling));
  await inTime(receiver.close());
}

/** A lock that was lost meanwhile is no harm: the message comes again and is no news then. */
async function settle(
  receiver: ServiceBusReceiver,
  message: ServiceBusReceivedMessage,
  verdict: Verdict,
): Promise<void> {
  switch (verdict.kind) {
    case 'complete':
      return receiver.completeMessage(message);
    case 'abandon':
      return receiver.abandonMessage(message);
    case 'setAside':
      return receiver.deadLetterMessage(message, {
        deadLetterReason: 'InvalidStatus',
        deadLetterErrorDescription: verdict.description.slice(0, 4096),
      });
  }
}

async function tracked<Result>(all: Set<Promise<unknown>>, work: Promise<Result>): Promise<Result> {
  all.add(work);
  try {
    return await work;
  } finally {
    all.delete(work);
  }
}
