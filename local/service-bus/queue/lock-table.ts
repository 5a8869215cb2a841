/** The peek-locks of one queue. All last equally long, so the oldest ends first. */
import { ExpiryLine } from './expiry-line.js';
import type { Lock, Message } from './message.js';

export class LockTable {
  readonly #byToken = new Map<string, Message>();
  /** A renewed lock is entered anew; what ended early stays in line until it is met. */
  readonly #line = new ExpiryLine<Message>(({ lock }, until) => lock?.until !== until);

  get size(): number {
    return this.#byToken.size;
  }

  add(message: Message, lock: Lock): void {
    message.lock = lock;
    this.#byToken.set(lock.token, message);
    this.#line.add(message, lock.until, this.#byToken.size);
  }

  get(token: string): Message | undefined {
    return this.#byToken.get(token);
  }

  remove(message: Message): void {
    if (message.lock === undefined) return;
    this.#byToken.delete(message.lock.token);
    message.lock = undefined;
  }

  renew(message: Message, until: number): void {
    if (message.lock !== undefined) this.add(message, { token: message.lock.token, until });
  }

  firstExpiry(): number {
    return this.#line.firstUntil();
  }

  /** The messages whose locks have ended; their holders learn it when they settle. */
  takeExpired(now: number): Message[] {
    const expired: Message[] = [];
    for (let message = this.#line.takeEnded(now); message !== undefined; message = this.#line.takeEnded(now)) {
      this.remove(message);
      expired.push(message);
    }
    return expired;
  }
}
