/**
 * A link on which a client receives from a queue.
 *
 * Invariants
 * L1 A message leaves only when its lock (or its removal) is durable, and only within the client's credit.
 * L2 Locks outlive their link: when a link ends, what it has delivered stays locked until settled or expired.
 * L3 The slots of a session are freed: rhea keeps an unsettled delivery in a ring of 2048 until both sides have settled.
 */
import { commitUnheard, type BrokerContext } from '../context.js';
import { wireErrors, type WireError } from '../errors.js';
import { perform } from '../faulty-operation.js';
import { limits } from '../limits.js';
import type { Message } from '../queue/message.js';
import type { Queue } from '../queue/queue.js';
import { settle, type Disposition } from '../queue/settle.js';
import { encodeDelivery } from '../wire/delivery.js';
import { tagToToken, tokenToTag } from '../wire/lock-token.js';
import type { ClientConnection } from './client-connection.js';
import { outcomeEvents, readDisposition } from './outcomes.js';
import { rejected, rejectedAsAsked, type Delivery, type Sender, type Typed } from './rhea.js';

/** The most frames one message can need. */
const framesPerMessage = Math.ceil(limits.maxMessageBytes / limits.maxFrameBytes) + 1;

export class Consumer {
  readonly queue: Queue;
  readonly client: ClientConnection;
  readonly #context: BrokerContext;
  readonly #sender: Sender;
  readonly #unsettled = new Set<Delivery>();
  readonly isReceiveAndDelete: boolean;
  /** Deliveries the client has asked for since the link began, and those taken from the queue for it. */
  #limit = 0;
  #handed = 0;
  /** Taken from the queue and not yet given to rhea. */
  #leaving = 0;
  #isDraining = false;
  #isClosed = false;

  constructor(context: BrokerContext, client: ClientConnection, queue: Queue, sender: Sender) {
    this.#context = context;
    this.client = client;
    this.queue = queue;
    this.#sender = sender;
    this.isReceiveAndDelete = sender.snd_settle_mode === 1;
    sender._get_drain = () => this.#takeDrain();
    for (const event of outcomeEvents) {
      sender.on(event, ({ delivery }) => {
        client.guard(() => {
          const { remote_state: outcome } = delivery;
          if (outcome === undefined) return;
          // A client takes an error in the answer for a failure, also the one it has sent itself to dead-letter.
          const answer = event === 'rejected' ? rejectedAsAsked : outcome.described();
          this.#settle(delivery, readDisposition(event, outcome), answer);
        });
      });
    }
  }

  /** The client has changed its credit. */
  onFlow(): void {
    this.#limit = this.#sender.delivery_count + this.#sender.credit;
    this.#isDraining = this.#sender._draining;
  }

  /** Whether one more message may be taken for this client. */
  hasCapacity(): boolean {
    if (this.#isClosed || this.#handed >= this.#limit || this.client.backlogBytes() > limits.consumerBacklogBytes) {
      return false;
    }
    const { outgoing } = this.#sender.session;
    const queued = outgoing.next_delivery_id - outgoing.next_pending_delivery + this.#leaving;
    return outgoing.available() > this.#leaving && outgoing.transfer_window() > framesPerMessage * (queued + 1);
  }

  isAllowed(now: number): boolean {
    return this.client.claims.allows(this.queue.name, 'Listen', now);
  }

  /** Takes the next message from the queue; it leaves with `deliver` once that is durable (L1). */
  acquire(now: number): Message | undefined {
    const message = this.isReceiveAndDelete ? this.queue.take(now) : this.queue.acquire(now);
    if (message === undefined) return undefined;
    this.#handed += 1;
    this.#leaving += 1;
    return message;
  }

  deliver(message: Message): void {
    this.#leaving -= 1;
    if (!this.#sender.is_open()) {
      this.giveBack(message);
      return;
    }
    const token = message.lock?.token;
    const tag = token === undefined ? tokenToTag(String(message.sequence).padStart(16)) : tokenToTag(token);
    const delivery = this.#sender.send(encodeDelivery(message), tag, 0);
    if (!this.isReceiveAndDelete) this.#unsettled.add(delivery);
    this.#context.counters.add(this.queue.name, 'receives');
  }

  /** A fault lost the message on its way: the client's credit is spent all the same. */
  lose(): void {
    this.#leaving -= 1;
  }

  /** Undoes `acquire`: the message never left. */
  giveBack(message: Message): void {
    if (this.isReceiveAndDelete) this.queue.putBack(message);
    else this.queue.release(message, this.#context.clock.now());
    commitUnheard(this.#context.commit(this.queue));
  }

  /** Answers a drain once the last message before it has been given to rhea. */
  answerDrain(): void {
    if (!this.#isDraining || this.#leaving > 0 || this.#isClosed) return;
    this.#isDraining = false;
    this.#handed = this.#limit;
    this.#sender.set_drained(true);
    this.#sender.connection._register();
  }

  close(error: WireError): void {
    this.#sender.close(error);
    this.onClosed();
  }

  onClosed(): void {
    this.#isClosed = true;
    for (const delivery of this.#unsettled) {
      delivery.settled = true;
      delivery.remote_settled = true; // L3
    }
    this.#unsettled.clear();
  }

  /** rhea would leave the drain flag out of its answer when the credit is used up, and the client would wait for it. */
  #takeDrain(): boolean {
    if (!this.#sender._draining) return false;
    this.#sender.delivery_count += this.#sender.credit;
    this.#sender.credit = 0;
    this.#sender._draining = false;
    return true;
  }

  #settle(delivery: Delivery, disposition: Disposition, outcome: Typed): void {
    const { namespace, clock, counters } = this.#context;
    const { queue } = this;
    const token = tagToToken(delivery.tag);
    void perform<WireError | undefined>(this.#context, {
      name: 'settle',
      entity: queue.name,
      run: async () => {
        const error = settle({ namespace, queue, token }, disposition, clock.now());
        counters.add(queue.name, error === undefined ? 'settlements' : 'failedSettlements');
        await this.#context.commit(queue);
        return error;
      },
      answer: (error) => {
        this.#finish(delivery, error === undefined ? outcome : rejected(error));
      },
      pretend: () => {
        this.#finish(delivery, outcome);
      },
      refuse: (error) => {
        this.#finish(delivery, rejected(error));
      },
      cut: this.client.cut,
    });
  }

  #finish(delivery: Delivery, state: Typed): void {
    if (!this.#unsettled.delete(delivery)) return;
    delivery.update(true, state);
    this.client.freeSlot(delivery); // L3
  }
}

/** Refuses a receiver that the broker cannot serve; undefined when it can. */
export function checkConsumer(sender: Sender, queue: Queue): WireError | undefined {
  const filters = Object.keys(sender.source?.filter ?? {});
  if (filters.some((name) => name.includes('session-filter'))) return wireErrors.notSupported('sessions');
  if (filters.length > 0) return wireErrors.notSupported(`filters on receivers (${filters.join(', ')})`);
  const { forwardTo, forwardDeadLettersTo } = queue.settings;
  const target = queue.isDeadLetter ? forwardDeadLettersTo : forwardTo;
  if (target === undefined) return undefined;
  return wireErrors.notAllowed(`'${queue.name}' forwards its messages; receive from '${target}'.`);
}
