/** A deliberately naive model of a queue: lists and searches, no heaps, no indexes. */

/** How the model's queue is set up. */
export interface ModelSettings {
  readonly lockMs: number;
  readonly maxDeliveryCount: number;
  readonly timeToLiveMs: number;
  readonly deadLetterOnExpiration: boolean;
  readonly duplicateWindowMs: number;
}

/** One message of the model. */
export interface ModelMessage {
  readonly sequence: number;
  readonly messageId: string;
  readonly expiresAt: number;
  readonly timeToLiveMs: number;
  readonly scheduledFor: number;
  state: 'active' | 'deferred' | 'scheduled';
  deliveryCount: number;
  lockedUntil: number | undefined;
}

/** What can be seen of a message from outside. */
export interface VisibleMessage {
  readonly sequence: number;
  readonly messageId: string;
  readonly state: string;
  readonly deliveryCount: number;
  readonly isLocked: boolean;
}

export class ModelQueue {
  readonly #settings: ModelSettings;
  readonly #seen: { messageId: string; until: number }[] = [];
  #messages: ModelMessage[] = [];
  #next = 1;
  readonly deadLetters: { sequence: number; reason: string }[] = [];

  constructor(settings: ModelSettings) {
    this.#settings = settings;
  }

  send(messageId: string, timeToLiveMs: number, scheduledFor: number, now: number): void {
    const { duplicateWindowMs } = this.#settings;
    const isDuplicate = this.#seen.some((seen) => seen.messageId === messageId && seen.until > now);
    if (duplicateWindowMs > 0 && isDuplicate) {
      this.#next += 1;
      return;
    }
    if (duplicateWindowMs > 0) this.#seen.push({ messageId, until: now + duplicateWindowMs });
    this.#add(messageId, timeToLiveMs, scheduledFor > now ? scheduledFor : 0, now);
  }

  receive(now: number): number | undefined {
    this.#expire(now);
    const message = this.#messages.find(({ state, lockedUntil }) => state === 'active' && lockedUntil === undefined);
    if (message === undefined) return undefined;
    message.lockedUntil = now + this.#settings.lockMs;
    return message.sequence;
  }

  receiveDeferred(sequence: number, now: number): boolean {
    const message = this.#messages.find((candidate) => candidate.sequence === sequence);
    if (message?.state !== 'deferred' || message.lockedUntil !== undefined) return false;
    message.lockedUntil = now + this.#settings.lockMs;
    return true;
  }

  cancel(sequence: number): boolean {
    const found = this.#messages.some((message) => message.sequence === sequence && message.state === 'scheduled');
    if (found) this.#remove(sequence);
    return found;
  }

  /** Settles a message that is locked; false when its lock is gone. */
  settle(sequence: number, kind: 'complete' | 'abandon' | 'release' | 'defer' | 'deadLetter', now: number): boolean {
    const message = this.#messages.find((candidate) => candidate.sequence === sequence);
    if (message?.lockedUntil === undefined || message.lockedUntil <= now) return false;
    if (kind === 'complete') this.#remove(sequence);
    if (kind === 'deadLetter') this.#bury(message, 'asked');
    if (kind === 'abandon') this.#giveBack(message, now);
    if (kind === 'release') {
      message.lockedUntil = undefined;
      this.#expire(now);
    }
    if (kind === 'defer') {
      message.lockedUntil = undefined;
      message.deliveryCount += 1;
      message.state = 'deferred';
    }
    return true;
  }

  renew(sequence: number, now: number): boolean {
    const message = this.#messages.find((candidate) => candidate.sequence === sequence);
    if (message?.lockedUntil === undefined || message.lockedUntil <= now) return false;
    message.lockedUntil = now + this.#settings.lockMs;
    return true;
  }

  /** Lets time pass up to `now`, in the order in which the queue looks at things. */
  tick(now: number): void {
    const expired = this.#messages.filter(({ lockedUntil }) => lockedUntil !== undefined && lockedUntil <= now);
    for (const message of expired) this.#giveBack(message, now);
    const due = this.#messages.filter(({ state, scheduledFor }) => state === 'scheduled' && scheduledFor <= now);
    due.sort((one, other) => one.scheduledFor - other.scheduledFor);
    for (const message of due) {
      this.#remove(message.sequence);
      this.#add(message.messageId, message.timeToLiveMs, 0, now);
    }
    this.#expire(now);
  }

  /** A crash: locks are gone, and each counts as a delivery. */
  crash(now: number): void {
    for (const message of [...this.#messages]) {
      if (message.lockedUntil === undefined) continue;
      message.lockedUntil = undefined;
      message.deliveryCount += 1;
      const isExhausted = message.state === 'active' && message.deliveryCount >= this.#settings.maxDeliveryCount;
      if (isExhausted) this.#bury(message, 'MaxDeliveryCountExceeded');
    }
    this.tick(now);
  }

  visible(): VisibleMessage[] {
    return this.#messages.map(({ sequence, messageId, state, deliveryCount, lockedUntil }) => ({
      sequence,
      messageId,
      state,
      deliveryCount,
      isLocked: lockedUntil !== undefined,
    }));
  }

  #add(messageId: string, timeToLiveMs: number, scheduledFor: number, now: number): void {
    const lifeMs = Math.min(timeToLiveMs, this.#settings.timeToLiveMs);
    this.#messages.push({
      sequence: this.#next,
      messageId,
      timeToLiveMs,
      scheduledFor,
      expiresAt: scheduledFor > 0 ? Infinity : now + lifeMs,
      state: scheduledFor > 0 ? 'scheduled' : 'active',
      deliveryCount: 0,
      lockedUntil: undefined,
    });
    this.#next += 1;
  }

  #giveBack(message: ModelMessage, now: number): void {
    message.lockedUntil = undefined;
    message.deliveryCount += 1;
    if (message.deliveryCount >= this.#settings.maxDeliveryCount) this.#bury(message, 'MaxDeliveryCountExceeded');
    else this.#expire(now);
  }

  #expire(now: number): void {
    for (const message of [...this.#messages]) {
      const isFree = message.state === 'active' && message.lockedUntil === undefined;
      if (!isFree || message.expiresAt > now) continue;
      if (this.#settings.deadLetterOnExpiration) this.#bury(message, 'TTLExpiredException');
      else this.#remove(message.sequence);
    }
  }

  #bury(message: ModelMessage, reason: string): void {
    this.#remove(message.sequence);
    this.deadLetters.push({ sequence: message.sequence, reason });
  }

  #remove(sequence: number): void {
    this.#messages = this.#messages.filter((message) => message.sequence !== sequence);
  }
}
