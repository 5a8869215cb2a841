/**
 * All queues of the broker, pure like a single one: sending, settling, dead-lettering and forwarding between queues.
 *
 * Invariants
 * N1 A batch is accepted whole or not at all.
 * N2 A move between queues is one group of records: after a crash the message is in one of the two, never in both or none.
 */
import type { QueueSettings } from '../config/queue-settings.js';
import { setApplicationProperties, textProperty, type EncodedProperty } from '../wire/application-properties.js';
import type { IncomingMessage } from '../wire/incoming.js';
import { deadLetterSuffix } from './entity-path.js';
import type { Message, QueueRecord } from './message.js';
import { Queue, type DeadLetterReason, type QueueHooks } from './queue.js';

/** What the namespace tells the broker. */
export interface NamespaceEvents {
  readonly record: (record: QueueRecord) => void;
  readonly ready: (queue: Queue) => void;
  readonly count: (queue: Queue, event: QueueEvent) => void;
  readonly newLockToken: () => string;
}

/** Things that happen to messages inside the broker, by themselves or as a consequence. */
export type QueueEvent = 'expired' | 'lockExpired' | 'duplicates' | 'deadLettered' | 'activated' | 'forwarded';

/** How a send ended; `sequences` has one number for each message sent. */
export type SendOutcome =
  | { readonly kind: 'accepted'; readonly sequences: readonly number[] }
  | { readonly kind: 'quotaExceeded'; readonly queue: string };

export class Namespace {
  readonly #queues = new Map<string, Queue>();
  readonly #events: NamespaceEvents;

  constructor(settings: readonly QueueSettings[], events: NamespaceEvents) {
    this.#events = events;
    const hooks: QueueHooks = {
      record: events.record,
      ready: events.ready,
      count: events.count,
      newLockToken: events.newLockToken,
      deadLetter: (queue, message, reason, now) => {
        const changes = [
          textProperty('DeadLetterReason', reason),
          textProperty('DeadLetterErrorDescription', describe(reason, queue.settings)),
        ];
        this.deadLetter(queue, message, changes, now);
      },
      activate: (queue, message, now) => {
        this.#activate(queue, message, now);
      },
    };
    for (const queue of settings) {
      const key = queue.name.toLowerCase();
      this.#queues.set(key, new Queue(queue.name, queue, false, hooks));
      this.#queues.set(
        (key + deadLetterSuffix).toLowerCase(),
        new Queue(queue.name + deadLetterSuffix, queue, true, hooks),
      );
    }
  }

  /** A queue or dead-letter sub-queue; names do not depend on case. */
  find(path: string): Queue | undefined {
    return this.#queues.get(path.toLowerCase());
  }

  queues(): Iterable<Queue> {
    return this.#queues.values();
  }

  /** Sends to a queue: all of the messages, or none (N1). */
  send(queue: Queue, messages: readonly IncomingMessage[], now: number): SendOutcome {
    const bytes = messages.reduce((sum, { raw }) => sum + raw.length, 0);
    const full = this.#route(queue).find((hop) => this.#used(hop) + bytes > hop.settings.maxSizeBytes);
    if (full !== undefined) return { kind: 'quotaExceeded', queue: full.name };
    const sequences = messages.map((message) => this.#sendOne(queue, message, now));
    return { kind: 'accepted', sequences };
  }

  /** Moves a message to the queue's dead letters, or on to where those are forwarded (N2). */
  deadLetter(queue: Queue, message: Message, changes: readonly EncodedProperty[], now: number): void {
    this.#events.count(queue, 'deadLettered');
    const raw = setApplicationProperties(message.raw, changes);
    queue.remove(message);
    const { forwardDeadLettersTo, name } = queue.settings;
    const target = forwardDeadLettersTo === undefined ? undefined : this.find(forwardDeadLettersTo);
    if (target !== undefined) {
      // The sender's time to live was for the first queue; here it would let the dead letter vanish unread.
      const sent = { raw, messageId: message.messageId, timeToLiveMs: undefined, scheduledFor: undefined };
      const enqueueSequence = message.enqueueSequence || message.sequence;
      this.#enqueue(target, sent, now, { enqueueSequence, deadLetterSource: name });
      return;
    }
    const deadLetters = this.find(name + deadLetterSuffix);
    deadLetters?.put({ ...message, raw, state: 'active', lock: undefined, removed: false });
  }

  /** A second copy that no duplicate detection sees; for faults. Answers its sequence number. */
  duplicate(queue: Queue, message: IncomingMessage, now: number): number {
    return this.#admit(queue, message, now, bySender);
  }

  #sendOne(queue: Queue, message: IncomingMessage, now: number): number {
    return this.#enqueue(queue, message, now, bySender);
  }

  #enqueue(queue: Queue, message: IncomingMessage, now: number, origin: Origin): number {
    if (!this.#isDuplicate(queue, message, now)) return this.#admit(queue, message, now, origin);
    const sequence = queue.takeSequence();
    queue.noteSequence();
    return sequence;
  }

  #isDuplicate(queue: Queue, { messageId }: IncomingMessage, now: number): boolean {
    const { duplicateWindowMs } = queue.settings;
    if (duplicateWindowMs === 0) return false;
    if (queue.duplicates.has(messageId, now)) {
      this.#events.count(queue, 'duplicates');
      return true;
    }
    const until = now + duplicateWindowMs;
    queue.duplicates.remember(messageId, until);
    this.#events.record({ kind: 'remember', queue: queue.name, messageId, until });
    return false;
  }

  #admit(queue: Queue, message: IncomingMessage, now: number, origin: Origin): number {
    const sequence = queue.takeSequence();
    const scheduledFor = (message.scheduledFor ?? 0) > now ? (message.scheduledFor ?? 0) : 0;
    const isScheduled = scheduledFor > 0;
    const forwarded = { ...origin, enqueueSequence: origin.enqueueSequence || sequence };
    if (!isScheduled && this.#forward(queue, message, now, forwarded)) return sequence;
    queue.put({
      sequence,
      enqueueSequence: origin.enqueueSequence,
      messageId: message.messageId,
      raw: message.raw,
      enqueuedAt: now,
      expiresAt: isScheduled ? Infinity : now + this.#timeToLive(queue, message),
      timeToLiveMs: message.timeToLiveMs,
      scheduledFor,
      wasScheduled: origin.wasScheduled ?? isScheduled,
      deadLetterSource: origin.deadLetterSource,
      state: isScheduled ? 'scheduled' : 'active',
      deliveryCount: 0,
      lock: undefined,
      removed: false,
    });
    return sequence;
  }

  #timeToLive(queue: Queue, { timeToLiveMs }: IncomingMessage): number {
    return Math.min(timeToLiveMs ?? Infinity, queue.settings.defaultTimeToLiveMs);
  }

  #forward(queue: Queue, message: IncomingMessage, now: number, origin: Origin): boolean {
    const { forwardTo } = queue.settings;
    const target = forwardTo === undefined ? undefined : this.find(forwardTo);
    if (target === undefined) return false;
    this.#events.count(queue, 'forwarded');
    queue.noteSequence();
    this.#enqueue(target, message, now, origin);
    return true;
  }

  /** The message comes in anew: its own sequence number, and its time to live begins. */
  #activate(queue: Queue, message: Message, now: number): void {
    this.#events.count(queue, 'activated');
    queue.remove(message);
    const { raw, messageId, timeToLiveMs, sequence } = message;
    const sent = { raw, messageId, timeToLiveMs, scheduledFor: undefined };
    this.#admit(queue, sent, now, { enqueueSequence: sequence, deadLetterSource: '', wasScheduled: true });
  }

  /** The queue and where it forwards to, in order. */
  #route(queue: Queue): Queue[] {
    const { forwardTo } = queue.settings;
    const next = forwardTo === undefined ? undefined : this.find(forwardTo);
    return next === undefined ? [queue] : [queue, ...this.#route(next)];
  }

  #used(queue: Queue): number {
    return queue.bytes + (this.find(queue.name + deadLetterSuffix)?.bytes ?? 0);
  }
}

interface Origin {
  /** As in a message. */
  readonly enqueueSequence: number;
  readonly deadLetterSource: string;
  readonly wasScheduled?: boolean;
}

const bySender: Origin = { enqueueSequence: 0, deadLetterSource: '' };

function describe(reason: DeadLetterReason, { maxDeliveryCount }: QueueSettings): string {
  return reason === 'MaxDeliveryCountExceeded'
    ? `Message could not be consumed after ${maxDeliveryCount} delivery attempts.`
    : 'The message expired and was dead lettered.';
}
