/**
 * Messages by a number, smallest first, and by sequence number where that is the same. A message that left its queue stays
 * until it is met or outnumbered.
 */
import type { Message } from './message.js';

export class MessageHeap {
  readonly #key: (message: Message) => number;
  #items: Message[] = [];

  constructor(key: (message: Message) => number) {
    this.#key = key;
  }

  /** The smallest number, perhaps of a message that has left; Infinity when there is none. */
  firstKey(): number {
    const first = this.#items[0];
    return first === undefined ? Infinity : this.#key(first);
  }

  push(message: Message): void {
    this.#items.push(message);
    this.#rise(this.#items.length - 1);
  }

  pop(): Message | undefined {
    const top = this.#items[0];
    const last = this.#items.pop();
    if (last !== undefined && this.#items.length > 0) {
      this.#items[0] = last;
      this.#sink(0);
    }
    return top;
  }

  /** Takes out the messages whose number is `limit` or less, without those that have left their queue. */
  takeUntil(limit: number): Message[] {
    const taken: Message[] = [];
    while (this.firstKey() <= limit) {
      const message = this.pop();
      if (message !== undefined && !message.removed) taken.push(message);
    }
    return taken;
  }

  /** Forgets messages that have left, once they outnumber the `live` ones: memory follows what is there. */
  compact(live: number): void {
    if (this.#items.length < 64 + 2 * live) return;
    const kept = this.#items.filter(({ removed }) => !removed);
    kept.sort((one, other) => (this.#isBefore(one, other) ? -1 : 1));
    this.#items = kept;
  }

  #isBefore(one: Message, other: Message): boolean {
    const difference = this.#key(one) - this.#key(other);
    return difference < 0 || (difference === 0 && one.sequence < other.sequence);
  }

  #at(index: number): Message {
    return this.#items[index] as Message;
  }

  #rise(from: number): void {
    const message = this.#at(from);
    let index = from;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.#isBefore(message, this.#at(parent))) break;
      this.#items[index] = this.#at(parent);
      index = parent;
    }
    this.#items[index] = message;
  }

  #sink(from: number): void {
    const message = this.#at(from);
    let index = from;
    for (let child = this.#smallerChild(index); child !== undefined; child = this.#smallerChild(index)) {
      if (!this.#isBefore(this.#at(child), message)) break;
      this.#items[index] = this.#at(child);
      index = child;
    }
    this.#items[index] = message;
  }

  #smallerChild(parent: number): number | undefined {
    const left = 2 * parent + 1;
    const right = left + 1;
    if (left >= this.#items.length) return undefined;
    const isRightSmaller = right < this.#items.length && this.#isBefore(this.#at(right), this.#at(left));
    return isRightSmaller ? right : left;
  }
}
