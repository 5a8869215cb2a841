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
  readonly inHand: Set<Promise<void>>;
}

/** Receives while it is used. */
export class StatusFeed {
  readonly #setup: FeedSetup;
  readonly #handlers = new Set<StatusHandler>();
  readonly #followers = new Set<StatusFollower>();
  readonly #lastOfOrder = new Map<string, Promise<boolean>>();
  readonly #endings = new Set<Promise<void>>();
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
    const inHand = new Set<Promise<void>>();
    const subscription = receiver.subscribe(
      {
        processMessage: (message) => tracked(inHand, this.#process(receiver, message)),
        processError: ({ error }) => {
          onError(error);
          return Promise.resolve();
        },
      },
      { autoCompleteMessages: false, maxConcurrentCalls: maxConcurrent },
    );
    return { receiver, subscription, inHand };
  }

  #endReception(): void {
    const ending = this.#reception;
    this.#reception = undefined;
    if (ending !== undefined) void tracked(this.#endings, end(ending).catch(this.#setup.onError));
  }

  async #process(receiver: ServiceBusReceiver, message: ServiceBusReceivedMessage): Promise<void> {
    const parsed = statusMessageSchema.safeParse(decodeMessageBody(message.body));
    if (!parsed.success) {
      await this.#settle(setAside(receiver, message, describeIssues(parsed.error)));
      return;
    }
    const isDone = await this.#afterEarlier(parsed.data);
    await this.#settle(isDone ? receiver.completeMessage(message) : receiver.abandonMessage(message)); // F1
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

  /** A lock that is lost meanwhile is no harm: the message comes again and is no news then. */
  async #settle(settling: Promise<void>): Promise<void> {
    await settling.catch(this.#setup.onError);
  }
}

async function end({ receiver, subscription, inHand }: Reception): Promise<void> {
  await subscription.close();
  await Promise.all(inHand);
  await receiver.close();
}

async function setAside(
  receiver: ServiceBusReceiver,
  message: ServiceBusReceivedMessage,
  description: string,
): Promise<void> {
  await receiver.deadLetterMessage(message, {
    deadLetterReason: 'InvalidStatus',
    deadLetterErrorDescription: description.slice(0, 4096),
  });
}

async function tracked(all: Set<Promise<void>>, work: Promise<void>): Promise<void> {
  all.add(work);
  try {
    await work;
  } finally {
    all.delete(work);
  }
}
