/** Hands ready messages to the consumers of their queue, in turn, once in a turn of the event loop. */
import { commitUnheard, type BrokerContext } from '../context.js';
import { wireErrors } from '../errors.js';
import { hold } from '../faulty-operation.js';
import type { Message } from '../queue/message.js';
import type { Queue } from '../queue/queue.js';
import { readIncoming } from '../wire/incoming.js';
import type { Consumer } from './consumer.js';

interface Handover {
  readonly consumer: Consumer;
  readonly message: Message;
}

export class Dispatcher {
  #context: BrokerContext | undefined;
  readonly #consumers = new Map<Queue, Consumer[]>();
  readonly #dirty = new Set<Queue>();
  /** Copies that a fault made. */
  readonly #copies = new Set<string>();

  /** The dispatcher is told of ready messages before the rest of the broker exists. */
  start(context: BrokerContext): void {
    this.#context = context;
  }

  add(consumer: Consumer): void {
    const consumers = this.#consumers.get(consumer.queue) ?? [];
    this.#consumers.set(consumer.queue, [...consumers, consumer]);
  }

  remove(consumer: Consumer): void {
    const others = (this.#consumers.get(consumer.queue) ?? []).filter((other) => other !== consumer);
    if (others.length > 0) this.#consumers.set(consumer.queue, others);
    else this.#consumers.delete(consumer.queue);
  }

  /** Something has changed that may let messages of this queue go. */
  mark(queue: Queue): void {
    if (this.#dirty.size === 0) {
      process.nextTick(() => {
        this.#run();
      });
    }
    this.#dirty.add(queue);
  }

  #run(): void {
    const context = this.#context;
    const queues = [...this.#dirty];
    this.#dirty.clear();
    if (context === undefined) return;
    for (const queue of queues) {
      const consumers = this.#consumers.get(queue);
      if (consumers !== undefined) this.#pump(context, queue, consumers);
    }
  }

  #pump(context: BrokerContext, queue: Queue, consumers: Consumer[]): void {
    const now = context.clock.now();
    for (const consumer of consumers.filter((candidate) => !candidate.isAllowed(now))) {
      this.remove(consumer);
      consumer.close(wireErrors.unauthorized('The token of this link has expired.'));
    }
    const handovers = this.#take(queue, now);
    context.commit(queue).then(
      () => {
        for (const handover of handovers) this.#handOver(context, handover);
        for (const consumer of consumers) consumer.answerDrain();
        if (handovers.length > 0) this.#markLater(queue);
      },
      () => {
        for (const { consumer } of handovers) consumer.client.cut(); // Not durable: nobody may see them.
      },
    );
  }

  /** What held a consumer back may be gone once its messages are on the wire. */
  #markLater(queue: Queue): void {
    setImmediate(() => {
      this.mark(queue);
    });
  }

  #take(queue: Queue, now: number): Handover[] {
    const consumers = this.#consumers.get(queue) ?? [];
    const handovers: Handover[] = [];
    let turn = 0;
    for (let refusals = 0; refusals < consumers.length; turn += 1) {
      const consumer = consumers[turn % consumers.length];
      if (consumer?.hasCapacity() !== true) {
        refusals += 1;
        continue;
      }
      refusals = 0;
      const message = consumer.acquire(now);
      if (message === undefined) break;
      handovers.push({ consumer, message });
    }
    // Whoever comes next begins next time, so that single messages go round too.
    const next = turn % Math.max(consumers.length, 1);
    if (next > 0) this.#consumers.set(queue, [...consumers.slice(next), ...consumers.slice(0, next)]);
    return handovers;
  }

  /** A copy is not copied again, else a rule without an end would never end. */
  #addCopy(context: BrokerContext, { consumer, message }: Handover): void {
    const key = (sequence: number): string => `${consumer.queue.name} ${sequence}`;
    if (this.#copies.has(key(message.sequence))) return;
    const incoming = readIncoming(message.raw, () => message.messageId);
    this.#copies.add(key(context.namespace.duplicate(consumer.queue, incoming, context.clock.now())));
    commitUnheard(context.commit(consumer.queue));
  }

  #handOver(context: BrokerContext, handover: Handover): void {
    const { consumer, message } = handover;
    const rule = context.faults.decide('deliver', consumer.queue.name);
    switch (rule?.action) {
      case 'drop':
        consumer.lose();
        return;
      case 'cutBeforeCommit':
        consumer.lose();
        consumer.giveBack(message);
        consumer.client.cut();
        return;
      case 'cutAfterCommit':
        consumer.lose();
        consumer.client.cut();
        return;
      case 'duplicate':
        this.#addCopy(context, handover);
        consumer.deliver(message);
        return;
      case 'delay':
      case 'pause':
        void hold(context, rule).then(() => {
          consumer.deliver(message);
          consumer.answerDrain();
        });
        return;
      default:
        consumer.deliver(message);
    }
  }
}
