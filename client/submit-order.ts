/** Sending an order: checked first, then sent until the broker has it, under an id that makes a repeat harmless. */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceBusSender } from '@azure/service-bus';
import { isServiceBusError } from '@azure/service-bus';
import { orderMessageId } from '../functions/contracts/identifiers.js';
import { isJsonObject } from '../functions/contracts/message-body.js';
import { canonicalOrder, parseOrder } from '../functions/contracts/order.js';
import type { Order } from '../functions/contracts/order.js';
import type { StatusMessage } from '../functions/contracts/status-message.js';
import { InvalidOrderError, SubmitFailedError } from './errors.js';
import type { StatusMemory } from './status-memory.js';

/** An order as an application writes it; the client adds the schema version and, if it is absent, the application. */
export type OrderDraft = Omit<Order, 'schemaVersion' | 'application' | 'priority'> &
  Partial<Pick<Order, 'application' | 'priority'>>;

/** An order that the broker has taken. */
export interface SubmittedOrder {
  readonly orderId: string;
  /** The broker drops a second message with this id; a different order under the same orderId has another one. */
  readonly messageId: string;
}

/** How an order is sent. */
export interface SubmitOptions {
  /**
   * The `OrderRejected` after which the order is tried again: without it the broker would take the try for a repeat and
   * drop it. Needed only if this client has not read it itself.
   */
  readonly after?: StatusMessage;
}

/** Where and how long to try. */
export interface SubmitTarget extends SubmitOptions {
  readonly application: string;
  readonly sender: Pick<ServiceBusSender, 'sendMessages'>;
  /** What is known of the order's rejections. */
  readonly memory: Pick<StatusMemory, 'remember' | 'rejection' | 'markTriedAgain'>;
  /** How long to try while the broker does not answer. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

const firstPauseMs = 100;
const longestPauseMs = 2_000;

/** What trying again does not cure. */
const definiteCodes: readonly string[] = [
  'UnauthorizedAccess',
  'MessagingEntityNotFound',
  'MessagingEntityDisabled',
  'MessageSizeExceeded',
  'QuotaExceeded',
];

/**
 * Sends an order.
 *
 * @throws InvalidOrderError when the order breaks the contract; nothing was sent
 * @throws SubmitFailedError when the broker refuses it, or does not answer in time; the next try is safe
 * @throws TypeError when `after` is the status of another order
 */
export async function submitOrder(draft: OrderDraft, target: SubmitTarget): Promise<SubmittedOrder> {
  const order = validOrder(draft, target.application);
  const { orderId } = order;
  const rejection = newestRejection(orderId, target);
  const messageId = messageIdOf(order, rejection);
  const message = { messageId, correlationId: orderId, contentType: 'application/json', body: order };
  try {
    await untilSent(() => target.sender.sendMessages(message), target);
  } catch (error) {
    target.signal.throwIfAborted();
    throw new SubmitFailedError(orderId, error);
  }
  // Only now: after a failure the next try must not look like a repeat of the rejected one.
  if (rejection !== undefined) target.memory.markTriedAgain(rejection);
  return { orderId, messageId };
}

/** The later one of what the caller names and what this client has read. */
function newestRejection(orderId: string, { after, memory }: SubmitTarget): StatusMessage | undefined {
  if (after !== undefined && after.orderId !== orderId) {
    throw new TypeError(`\`after\` is a status of order ${after.orderId}, not of order ${orderId}.`);
  }
  if (after !== undefined) memory.remember(after);
  return memory.rejection(orderId);
}

function messageIdOf(order: Order, rejection: StatusMessage | undefined): string {
  const hash = createHash('sha256').update(canonicalOrder(order)).digest('hex');
  const first = orderMessageId(order.orderId, hash);
  return rejection === undefined ? first : `${first}.${Date.parse(rejection.at)}`;
}

function validOrder(draft: OrderDraft, application: string): Order {
  const parsed = parseOrder(completed(draft, application));
  if (!parsed.ok) throw new InvalidOrderError(parsed.rejection.reason, parsed.rejection.description);
  if (parsed.value.application === application) return parsed.value;
  throw new InvalidOrderError('InvalidOrder', `application: expected ${application}, whose client this is`);
}

/** Callers without a type checker may pass anything; what is not an object is for the validation to refuse. */
function completed(draft: unknown, application: string): unknown {
  if (!isJsonObject(draft)) return undefined;
  return { ...draft, schemaVersion: 1, application: draft['application'] ?? application };
}

/** The SDK retries much by itself, but not a broker that refuses connections. */
async function untilSent(send: () => Promise<void>, { timeoutMs, signal }: SubmitTarget): Promise<void> {
  const giveUpAt = Date.now() + timeoutMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    signal.throwIfAborted();
    try {
      await send();
      return;
    } catch (error) {
      if (isDefinite(error) || Date.now() + pauseMs > giveUpAt) throw error;
    }
    await delay(pauseMs, undefined, { signal });
  }
}

/** The SDK lets some lost connections through as plain errors. */
function isDefinite(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isDefinite); // What the SDK's own retries have met.
  return isServiceBusError(error) ? definiteCodes.includes(error.code) : error instanceof TypeError;
}
