/**
 * One queue, or one dead-letter sub-queue, as pure data: no clock, no I/O. Times come in, changes go out as records.
 *
 * Invariants
 * Q1 A message is in exactly one place: ready, locked, deferred, scheduled, or gone.
 * Q2 Every change is recorded before the method returns, so that one journal append per operation makes it durable.
 * Q3 A lock is recorded as a delivery that failed; only its outcome takes that back. After a crash the message is ready
 *    again with its delivery counted.
 * Q4 Ready messages leave in the order of their sequence numbers; an abandoned one goes back to its place.
 * Q5 In a dead-letter sub-queue nothing expires and no delivery is counted.
 */
import type { QueueSettings } from '../config/queue-settings.js';
import { setApplicationProperties, type EncodedProperty } from '../wire/application-properties.js';
import { DuplicateHistory } from './duplicate-history.js';
import { MessageHeap } from './message-heap.js';
import { LockTable } from './lock-table.js';
import type { Message, QueueRecord } from './message.js';
import { SequenceIndex } from './sequence-index.js';

/** Why the broker itself dead-letters a message. */
export type DeadLetterReason = 'MaxDeliveryCountExceeded' | 'TTLExpiredException';

/** What a queue tells its namespace. */
export interface QueueHooks {
  readonly record: (record: QueueRecord) => void;
  /** A message has become ready. */
  readonly ready: (queue: Queue) => void;
  /** Moves a message that the queue gives up. */
  readonly deadLetter: (queue: Queue, message: Message, reason: DeadLetterReason, now: number) => void;
  /** A scheduled message's time has come. */
  readonly activate: (queue: Queue, message: Message, now: number) => void;
  readonly count: (queue: Queue, event: 'expired' | 'lockExpired') => void;
  readonly newLockToken: () => string;
}

export class Queue {
  readonly name: string;
  readonly settings: QueueSettings;
  readonly isDeadLetter: boolean;
  readonly duplicates = new DuplicateHistory();
  readonly #hooks: QueueHooks;
  readonly #messages = new Map<number, Message>();
  readonly #index = new SequenceIndex();
  readonly #ready = new MessageHeap(({ sequence }) => sequence);
  readonly #scheduled = new MessageHeap(({ scheduledFor }) => scheduledFor);
  readonly #expiring = new MessageHeap(({ expiresAt }) => expiresAt);
  readonly #locks = new LockTable();
  #nextSequence = 1;
  #bytes = 0;

  constructor(name: string, settings: QueueSettings, isDeadLetter: boolean, hooks: QueueHooks) {
    this.name = name;
    this.settings = settings;
    this.isDeadLetter = isDeadLetter;
    this.#hooks = hooks;
  }

  get size(): number {
    return this.#messages.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get lockedCount(): number {
    return this.#locks.size;
  }

  get nextSequence(): number {
    return this.#nextSequence;
  }

  messages(): Iterable<Message> {
    return this.#messages.values();
  }

  takeSequence(): number {
    const sequence = this.#nextSequence;
    this.#nextSequence += 1;
    return sequence;
  }

  /** Records that a number is used up although no message of this queue has it, so that a restart does not reuse it. */
  noteSequence(): void {
    this.#hooks.record({ kind: 'next', queue: this.name, sequence: this.#nextSequence });
  }

  /** Adds a message. */
  put(message: Message): void {
    this.restore(message);
    this.#hooks.record({ kind: 'put', queue: this.name, message });
    this.index(message);
  }

  /** Replays a put; `index` follows once the replay is complete. */
  restore(message: Message): void {
    this.restoreRemoval(message.sequence);
    this.#messages.set(message.sequence, message);
    this.#bytes += message.raw.length;
    this.#nextSequence = Math.max(this.#nextSequence, message.sequence + 1);
  }

  restoreRemoval(sequence: number): void {
    const message = this.#messages.get(sequence);
    if (message === undefined) return;
    message.removed = true;
    this.#messages.delete(sequence);
    this.#bytes -= message.raw.length;
  }

  restoreState(sequence: number, state: Message['state'], deliveryCount: number): void {
    const message = this.#messages.get(sequence);
    if (message === undefined) return;
    message.state = state;
    message.deliveryCount = deliveryCount;
  }

  restoreNextSequence(sequence: number): void {
    this.#nextSequence = Math.max(this.#nextSequence, sequence);
  }

  /** Makes a message findable in the way its state asks for. */
  index(message: Message): void {
    this.#index.add(message, this.#messages.size);
    if (message.state === 'scheduled') this.#scheduled.push(message);
    if (message.state === 'active') this.#makeReady(message);
    const canExpire = !this.isDeadLetter && message.expiresAt !== Infinity;
    if (canExpire) this.#expiring.push(message);
  }

  /** Takes a message out for good. */
  remove(message: Message): void {
    this.#unlock(message);
    this.restoreRemoval(message.sequence);
    this.#hooks.record({ kind: 'remove', queue: this.name, sequence: message.sequence });
    this.#expiring.compact(this.#messages.size);
    this.#scheduled.compact(this.#messages.size);
    this.#ready.compact(this.#messages.size);
  }

  /** The next ready message, locked for its receiver. */
  acquire(now: number): Message | undefined {
    const message = this.#nextReady(now);
    if (message !== undefined) this.#lock(message, now);
    return message;
  }

  /** The next ready message, gone from the queue. */
  take(now: number): Message | undefined {
    const message = this.#nextReady(now);
    if (message !== undefined) this.remove(message);
    return message;
  }

  /** A deferred message that nobody holds. */
  findDeferred(sequence: number): Message | undefined {
    const message = this.#messages.get(sequence);
    const isFree = message?.state === 'deferred' && message.lock === undefined;
    return isFree ? message : undefined;
  }

  /** Locks a deferred message. */
  lockDeferred(message: Message, now: number): void {
    this.#lock(message, now);
  }

  findScheduled(sequence: number): Message | undefined {
    const message = this.#messages.get(sequence);
    return message?.state === 'scheduled' ? message : undefined;
  }

  /** The message under a lock that still holds. */
  findLocked(token: string, now: number): Message | undefined {
    const message = this.#locks.get(token);
    const lock = message?.lock;
    return lock !== undefined && lock.until > now ? message : undefined;
  }

  /** Sets a new time on a lock that still holds, and returns it. */
  renew(message: Message, now: number): number {
    const until = now + this.settings.lockDurationMs;
    this.#locks.renew(message, until);
    return until;
  }

  abandon(message: Message, now: number, changes: readonly EncodedProperty[] = []): void {
    this.#unlock(message);
    this.#countDelivery(message);
    this.#change(message, changes);
    this.#settleDown(message, now);
  }

  defer(message: Message, changes: readonly EncodedProperty[] = []): void {
    this.#unlock(message);
    this.#countDelivery(message);
    message.state = 'deferred';
    this.#change(message, changes);
  }

  /** Puts back a message that was taken and never left the broker. */
  putBack(message: Message): void {
    this.put({ ...message, removed: false });
  }

  /** Gives back a message that nobody has worked on: it never left the broker, or its receiver says so. Nothing is counted. */
  release(message: Message, now: number): void {
    this.#unlock(message);
    this.#recordState(message, message.deliveryCount);
    if (message.state === 'active') this.#makeReadyUnlessExpired(message, now);
  }

  peek(sequence: number, count: number): Message[] {
    return this.#index.from(sequence, count);
  }

  /** When `expireDue` has something to do next. */
  nextDue(): number {
    return Math.min(this.#locks.firstExpiry(), this.#scheduled.firstKey(), this.#expiring.firstKey());
  }

  /** Ends locks, activates scheduled messages and expires messages whose time has come. */
  expireDue(now: number): void {
    for (const message of this.#locks.takeExpired(now)) {
      this.#hooks.count(this, 'lockExpired');
      this.abandon(message, now);
    }
    for (const message of this.#scheduled.takeUntil(now)) this.#hooks.activate(this, message, now);
    for (const message of this.#expiring.takeUntil(now)) {
      // A locked message stays with its holder, a deferred one waits for its reader.
      const isFree = message.state === 'active' && message.lock === undefined;
      if (isFree) this.#expire(message, now);
    }
  }

  /** Indexes what a replay has restored. */
  indexAll(): void {
    for (const message of this.#messages.values()) this.index(message);
  }

  /** After a crash, once all queues are indexed: messages whose last delivery was lost are given up (Q3). */
  giveUpExhausted(now: number): void {
    for (const message of [...this.#messages.values()]) {
      if (message.state === 'active' && this.#isExhausted(message)) this.#giveUp(message, now);
    }
  }

  #nextReady(now: number): Message | undefined {
    for (;;) {
      const message = this.#ready.pop();
      if (message === undefined) return undefined;
      const isReady = !message.removed && message.lock === undefined && message.state === 'active';
      if (!isReady) continue;
      if (!this.isDeadLetter && message.expiresAt <= now) this.#expire(message, now);
      else return message;
    }
  }

  #lock(message: Message, now: number): void {
    this.#locks.add(message, { token: this.#hooks.newLockToken(), until: now + this.settings.lockDurationMs });
    if (!this.isDeadLetter) this.#recordState(message, message.deliveryCount + 1); // Q3
  }

  #unlock(message: Message): void {
    this.#locks.remove(message);
  }

  #countDelivery(message: Message): void {
    if (!this.isDeadLetter) message.deliveryCount += 1; // Q5
  }

  #change(message: Message, changes: readonly EncodedProperty[]): void {
    if (changes.length === 0) {
      this.#recordState(message, message.deliveryCount);
      return;
    }
    const changed = setApplicationProperties(message.raw, changes);
    this.#bytes += changed.length - message.raw.length;
    message.raw = changed;
    this.#hooks.record({ kind: 'put', queue: this.name, message });
  }

  /** An active message becomes ready again or is given up; a deferred one stays where it was. */
  #settleDown(message: Message, now: number): void {
    if (this.#isExhausted(message)) this.#giveUp(message, now);
    else if (message.state === 'active') this.#makeReadyUnlessExpired(message, now);
  }

  #isExhausted(message: Message): boolean {
    return !this.isDeadLetter && message.deliveryCount >= this.settings.maxDeliveryCount;
  }

  #giveUp(message: Message, now: number): void {
    this.#hooks.deadLetter(this, message, 'MaxDeliveryCountExceeded', now);
  }

  #makeReadyUnlessExpired(message: Message, now: number): void {
    if (!this.isDeadLetter && message.expiresAt <= now) this.#expire(message, now);
    else this.#makeReady(message);
  }

  #makeReady(message: Message): void {
    this.#ready.push(message);
    this.#hooks.ready(this);
  }

  #expire(message: Message, now: number): void {
    this.#hooks.count(this, 'expired');
    if (this.settings.deadLetterOnExpiration) this.#hooks.deadLetter(this, message, 'TTLExpiredException', now);
    else this.remove(message);
  }

  #recordState(message: Message, deliveryCount: number): void {
    const { sequence, state } = message;
    this.#hooks.record({ kind: 'state', queue: this.name, sequence, state, deliveryCount });
  }
}
