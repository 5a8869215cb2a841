/**
 * The application's status queue as a feed of news.
 *
 * Invariants
 * F1 A message is completed only after every handler has finished with it.
 * F2 Handlers see each order's statuses one after the other, each `seq` once and none after a greater one (T54). If one
 *    goes back to the queue, the later ones that were taken meanwhile go back too.
 * F3 Messages are taken only while somebody handles or follows them, so none is completed unseen.
 * F4 A handler that fails is called again while its message stays locked, with growing pauses. So a fault that lasts some
 *    minutes costs one delivery, and not all that the queue allows (T48). The statuses of other orders go on meanwhile.
 * F5 The messages in hand are bounded: beyond `maxTaken`, those that wait keep the broker from delivering more.
 */
import type { ServiceBusClient, ServiceBusReceivedMessage, ServiceBusReceiver } from '@azure/service-bus';
import { statusQueueName } from '../functions/contracts/identifiers.js';
import { decodeMessageBody } from '../functions/contracts/message-body.js';
import { describeIssues } from '../functions/contracts/rejection.js';
import { statusMessageSchema } from '../functions/contracts/status-message.js';
import type { StatusMessage } from '../functions/contracts/status-message.js';
import { HandlerSlots } from './handler-slots.js';
import { inTime } from './in-time.js';
import type { StatusMemory } from './status-memory.js';

/**
 * Takes one status. The message is completed when it returns, or when its promise resolves; when it throws or its promise
 * rejects, it is called again after a pause.
 */
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
  /** Resolves after so many milliseconds, or as soon as the signal aborts. */
  readonly pause: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** From its begin to its end; messages are settled with the receiver that has delivered them. */
interface Reception {
  readonly receiver: ServiceBusReceiver;
  /** Messages that are handled or wait for it, and those that are being settled. */
  readonly handling: Set<Promise<unknown>>;
  readonly settling: Set<Promise<unknown>>;
  readonly ended: AbortController;
}

/** One message on its way through the handlers. */
interface Delivery {
  readonly ended: AbortSignal;
  /** Called when the message waits: others may be delivered meanwhile. */
  readonly waits: () => void;
}

const maxTaken = 100;
const firstPauseMs = 100;
const longestPauseMs = 30_000;
/** How long a status is tried before it goes back to the queue: to another process perhaps, whose handler works. */
const holdMs = 10 * 60_000;
/** An earlier status of the order may take its time first, and the handlers theirs. */
const lockRenewalMs = 3 * holdMs;

/** What is to become of a message. */
type Verdict = { readonly kind: 'complete' | 'abandon' } | { readonly kind: 'setAside'; readonly description: string };

/** Receives while it is used. */
export class StatusFeed {
  readonly #setup: FeedSetup;
  readonly #handlers = new Set<StatusHandler>();
  readonly #followers = new Set<StatusFollower>();
  readonly #lastOfOrder = new Map<string, Promise<boolean>>();
  readonly #endings = new Set<Promise<unknown>>();
  readonly #slots: HandlerSlots;
  #reception: { readonly end: () => Promise<void> } | undefined;

  constructor(setup: FeedSetup) {
    this.#setup = setup;
    this.#slots = new HandlerSlots(setup.maxConcurrent);
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

  #receive(): { readonly end: () => Promise<void> } {
    const { client, application, maxConcurrent } = this.#setup;
    const receiver = client.createReceiver(statusQueueName(application), {
      maxAutoLockRenewalDurationInMs: lockRenewalMs,
    });
    const reception = {
      receiver,
      handling: new Set<Promise<unknown>>(),
      settling: new Set<Promise<unknown>>(),
      ended: new AbortController(),
    };
    const subscription = receiver.subscribe(
      {
        processMessage: (message) => this.#take(message, reception),
        processError: ({ error }) => {
          this.#report(error);
          return Promise.resolve();
        },
      },
      { autoCompleteMessages: false, maxConcurrentCalls: maxConcurrent },
    );
    return { end: () => end(reception, subscription) };
  }

  #endReception(): void {
    const ending = this.#reception;
    this.#reception = undefined;
    if (ending !== undefined) {
      void tracked(
        this.#endings,
        ending.end().catch((error: unknown) => {
          this.#report(error);
        }),
      );
    }
  }

  /** Resolves when the broker may deliver the next message: this one is settled, or waits (F4, F5). */
  #take(message: ServiceBusReceivedMessage, { receiver, handling, settling, ended }: Reception): Promise<void> {
    return new Promise((next) => {
      const waits = (): void => {
        if (handling.size < maxTaken) next();
      };
      void tracked(handling, this.#judge(message, { ended: ended.signal, waits }))
        .then((verdict) => tracked(settling, settle(receiver, message, verdict)))
        .catch((error: unknown) => {
          this.#report(error);
        })
        .then(next);
    });
  }

  async #judge({ body }: ServiceBusReceivedMessage, delivery: Delivery): Promise<Verdict> {
    const parsed = statusMessageSchema.safeParse(decodeMessageBody(body));
    if (!parsed.success) return { kind: 'setAside', description: describeIssues(parsed.error) };
    return { kind: (await this.#afterEarlier(parsed.data, delivery)) ? 'complete' : 'abandon' }; // F1
  }

  /** Waits for the order's earlier statuses, then has this one handled (F2). */
  async #afterEarlier(status: StatusMessage, delivery: Delivery): Promise<boolean> {
    const earlier = this.#lastOfOrder.get(status.orderId);
    if (earlier !== undefined) delivery.waits();
    const handling = (earlier ?? Promise.resolve(true)).then((isDone) => isDone && this.#handle(status, delivery));
    this.#lastOfOrder.set(status.orderId, handling);
    const isDone = await handling;
    if (this.#lastOfOrder.get(status.orderId) === handling) this.#lastOfOrder.delete(status.orderId);
    return isDone;
  }

  /** True when the message is done with, false when it is to go back to the queue. */
  async #handle(status: StatusMessage, { ended, waits }: Delivery): Promise<boolean> {
    if (!this.#setup.memory.isNews(status)) return true;
    const finished = new Set<StatusHandler>();
    for (const pauseMs of pausesBetweenTries()) {
      if (await this.#slots.run(() => this.#callHandlers(status, finished))) return true;
      if (!this.#isUsed) return false; // F3
      waits();
      await this.#setup.pause(pauseMs, ended); // F4
      if (ended.aborted) return false;
    }
    return false;
  }

  /** Calls the handlers that have not finished with the status yet; true when all have. */
  async #callHandlers(status: StatusMessage, finished: Set<StatusHandler>): Promise<boolean> {
    if (!this.#isUsed) return false; // F3
    const open = [...this.#handlers].filter((handler) => !finished.has(handler));
    const outcomes = await Promise.allSettled(
      open.map(async (handler) => {
        await handler(status);
        finished.add(handler);
      }),
    );
    const failures = outcomes.filter((outcome) => outcome.status === 'rejected');
    for (const { reason } of failures) this.#report(reason);
    if (failures.length > 0) return false;
    this.#setup.memory.remember(status);
    for (const follower of this.#followers) follower(status);
    return true;
  }

  /** The application's own function may throw, too; that must not stop the feed. */
  #report(error: unknown): void {
    try {
      this.#setup.onError(error);
    } catch {
      // There is nobody else to tell.
    }
  }
}

function* pausesBetweenTries(): Generator<number> {
  let heldMs = 0;
  for (let pauseMs = firstPauseMs; heldMs < holdMs; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    yield pauseMs;
    heldMs += pauseMs;
  }
}

/** What waits goes back to the queue, only after the broker delivers no more: it would come again at once. */
async function end(
  { receiver, handling, settling, ended }: Reception,
  subscription: { close(): Promise<void> },
): Promise<void> {
  await subscription.close();
  ended.abort();
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
