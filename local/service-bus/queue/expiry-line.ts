/**
 * Things that end in the order in which they came. A Map would do, but finding its first entry gets slower with every
 * entry deleted before it.
 */

interface Entry<T> {
  readonly item: T;
  readonly until: number;
}

export class ExpiryLine<T> {
  readonly #isStale: (item: T, until: number) => boolean;
  #entries: Entry<T>[] = [];
  #head = 0;

  /** `isStale` tells entries that no longer count: ended before their time, or entered anew. */
  constructor(isStale: (item: T, until: number) => boolean) {
    this.#isStale = isStale;
  }

  add(item: T, until: number, live: number): void {
    this.#entries.push({ item, until });
    if (this.#entries.length > 64 + 2 * live) this.#compact();
  }

  /** When the first of them ends. */
  firstUntil(): number {
    return this.#first()?.until ?? Infinity;
  }

  /** Takes out the next one that has ended. */
  takeEnded(now: number): T | undefined {
    const first = this.#first();
    if (first === undefined || first.until > now) return undefined;
    this.#head += 1;
    return first.item;
  }

  #first(): Entry<T> | undefined {
    for (; this.#head < this.#entries.length; this.#head += 1) {
      const entry = this.#entries[this.#head];
      if (entry !== undefined && !this.#isStale(entry.item, entry.until)) return entry;
    }
    return undefined;
  }

  #compact(): void {
    this.#entries = this.#entries.slice(this.#head).filter(({ item, until }) => !this.#isStale(item, until));
    this.#head = 0;
  }
}
