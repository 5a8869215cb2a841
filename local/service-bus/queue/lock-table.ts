/** The peek-locks of one queue, in the order of their expiry: all last equally long, so the oldest ends first. */
import type { Lock, Message } from './message.js';

export class LockTable {
  readonly #byToken = new Map<string, Message>();

  get size(): number {
    return this.#byToken.size;
  }

  add(message: Message, lock: Lock): void {
    message.lock = lock;
    this.#byToken.set(lock.token, message);
  }

  get(token: string): Message | undefined {
    return this.#byToken.get(token);
  }

  remove(message: Message): void {
    if (message.lock === undefined) return;
    this.#byToken.delete(message.lock.token);
    message.lock = undefined;
  }

  /** A renewed lock becomes the youngest. */
  renew(message: Message, until: number): void {
    if (message.lock === undefined) return;
    const { token } = message.lock;
    this.#byToken.delete(token);
    this.add(message, { token, until });
  }

  firstExpiry(): number {
    for (const message of this.#byToken.values()) return message.lock?.until ?? Infinity;
    return Infinity;
  }

  /** The messages whose locks have ended; their holders must be told by a failing settlement. */
  takeExpired(now: number): Message[] {
    const expired: Message[] = [];
    for (const message of this.#byToken.values()) {
      if ((message.lock?.until ?? Infinity) > now) break;
      expired.push(message);
    }
    for (const message of expired) this.remove(message);
    return expired;
  }
}
