/** The message ids a queue has accepted within its duplicate detection window. */
export class DuplicateHistory {
  /** In the order of their expiry, because the window is the same for all ids of a queue. */
  readonly #until = new Map<string, number>();

  get size(): number {
    return this.#until.size;
  }

  /** True when the id was accepted less than a window ago, whatever became of that message. */
  has(messageId: string, now: number): boolean {
    this.#forget(now);
    return (this.#until.get(messageId) ?? 0) > now;
  }

  remember(messageId: string, until: number): void {
    this.#until.delete(messageId); // To the end: a replay meets ids again that had expired in between.
    this.#until.set(messageId, until);
  }

  entries(now: number): [messageId: string, until: number][] {
    this.#forget(now);
    return [...this.#until];
  }

  #forget(now: number): void {
    for (const [messageId, until] of this.#until) {
      if (until > now) return;
      this.#until.delete(messageId);
    }
  }
}
