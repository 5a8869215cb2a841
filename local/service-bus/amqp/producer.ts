/** A link on which a client sends to a queue. A message is accepted when it is durable. */
import type { BrokerContext } from '../context.js';
import { DecodeError, wireErrors, type WireError } from '../errors.js';
import { perform } from '../faulty-operation.js';
import { limits } from '../limits.js';
import type { Queue } from '../queue/queue.js';
import { readBatch, type IncomingMessage } from '../wire/incoming.js';
import { checkMessages } from '../wire/message-limits.js';
import type { ClientConnection } from './client-connection.js';
import { accepted, rejected, type Delivery, type Receiver, type Typed } from './rhea.js';

/** One transfer that has come in. */
export interface Transfer {
  readonly delivery: Delivery;
  readonly payload: Buffer;
  readonly isOversized: boolean;
}

export class Producer {
  readonly #context: BrokerContext;
  readonly #client: ClientConnection;
  readonly #queue: Queue;
  readonly #receiver: Receiver;
  #creditOwed = 0;

  constructor(context: BrokerContext, client: ClientConnection, queue: Queue, receiver: Receiver) {
    this.#context = context;
    this.#client = client;
    this.#queue = queue;
    this.#receiver = receiver;
  }

  /** Lets the client send; all at once, because the SDK waits a second for credit that it does not have. */
  open(): void {
    this.#receiver.add_credit(limits.sendCredit);
  }

  onTransfer(transfer: Transfer): void {
    const { delivery } = transfer;
    const messages = this.#read(transfer);
    if (!Array.isArray(messages)) {
      this.#settle(delivery, rejected(messages));
      return;
    }
    void perform<WireError | undefined>(this.#context, {
      name: 'send',
      entity: this.#queue.name,
      run: () => this.#enqueue(messages),
      runAgain: () => this.#duplicate(messages),
      answer: (error) => {
        this.#settle(delivery, error === undefined ? accepted : rejected(error));
      },
      pretend: () => {
        this.#settle(delivery, accepted);
      },
      refuse: (error) => {
        this.#settle(delivery, rejected(error));
      },
      cut: this.#client.cut,
    });
  }

  #read({ delivery, payload, isOversized }: Transfer): IncomingMessage[] | WireError {
    const isAllowed = this.#client.claims.allows(this.#queue.name, 'Send', this.#context.clock.now());
    if (!isAllowed) return wireErrors.unauthorized(`The Send claim is required for '${this.#queue.name}'.`);
    if (isOversized) return wireErrors.messageTooLarge(limits.maxMessageBytes);
    try {
      return readBatch(payload, delivery.format);
    } catch (error) {
      if (error instanceof DecodeError) return wireErrors.malformed(error.message);
      throw error;
    }
  }

  async #enqueue(messages: readonly IncomingMessage[]): Promise<WireError | undefined> {
    const queue = this.#queue;
    const problem = checkMessages(messages);
    if (problem !== undefined) return problem;
    const { namespace, clock, counters } = this.#context;
    const outcome = namespace.send(queue, messages, clock.now());
    if (outcome.kind === 'quotaExceeded') return wireErrors.quotaExceeded(outcome.queue);
    counters.add(queue.name, 'sends', messages.length);
    await this.#context.commit(queue);
    return undefined;
  }

  async #duplicate(messages: readonly IncomingMessage[]): Promise<undefined> {
    const { namespace, clock } = this.#context;
    for (const message of messages) namespace.duplicate(this.#queue, message, clock.now());
    await this.#context.commit(this.#queue);
    return undefined;
  }

  #settle(delivery: Delivery, state: Typed): void {
    delivery.update(true, state);
    this.#creditOwed += 1;
    if (this.#creditOwed < limits.sendCredit / 4) return;
    this.#receiver.add_credit(this.#creditOwed);
    this.#creditOwed = 0;
  }
}
