/** The message ids a queue has accepted within its duplicate detection window. */
import { ExpiryLine } from './expiry-line.js';

export class DuplicateHistory {
  readonly #until = new Map<string, number>();
  readonly #line = new ExpiryLine<string>((messageId, until) => this.#until.get(messageId) !== until);

  /** True when the id was accepted less than a window ago, whatever became of that message. */
  has(messageId: string, now: number): boolean {
    this.#forget(now);
    return (this.#until.get(messageId) ?? 0) > now;
  }

  remember(messageId: string, until: number): void {
    this.#until.set(messageId, until);
    this.#line.add(messageId, until, this.#until.size);
  }

  entries(now: number): [messageId: string, until: number][] {
    this.#forget(now);
    return [...this.#until];
  }

  #forget(now: number): void {
    for (let ended = this.#line.takeEnded(now); ended !== undefined; ended = this.#line.takeEnded(now)) {
      this.#until.delete(ended);
    }
  }
}
