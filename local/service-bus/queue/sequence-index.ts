/** Messages in the order of their sequence numbers, for browsing from any number. */
import type { Message } from './message.js';

/** Appending in order is the rule; dead letters arrive out of order and cost a sort at the next look. */
export class SequenceIndex {
  #messages: Message[] = [];
  #isSorted = true;

  add(message: Message, live: number): void {
    const last = this.#messages.at(-1);
    if (last !== undefined && last.sequence > message.sequence) this.#isSorted = false;
    this.#messages.push(message);
    if (this.#messages.length > 64 + 2 * live) this.#messages = this.#messages.filter(({ removed }) => !removed);
  }

  /** Up to `count` messages from `sequence` on. */
  from(sequence: number, count: number): Message[] {
    if (!this.#isSorted) {
      this.#messages.sort((one, other) => one.sequence - other.sequence);
      this.#isSorted = true;
    }
    const found: Message[] = [];
    for (let index = this.#firstAt(sequence); index < this.#messages.length && found.length < count; index += 1) {
      const message = this.#messages[index];
      if (message !== undefined && !message.removed) found.push(message);
    }
    return found;
  }

  #firstAt(sequence: number): number {
    let low = 0;
    let high = this.#messages.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#messages[middle]?.sequence ?? Infinity) < sequence) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
