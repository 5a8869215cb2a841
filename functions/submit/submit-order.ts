/**
 * Steps 1 and 2 of the article: an order message becomes an order and its state record.
 *
 * Invariants
 * S1 The order is written first, the record second, the message completed last (T44, I6).
 * S2 Each write is idempotent by itself: created if absent, never overwritten (R71–R73).
 * S3 The stored order arbitrates: the record is built from it, a message that differs from it is refused (R74, R75, T45).
 */
import { differingFields, parseOrder } from '../contracts/order.js';
import type { Order } from '../contracts/order.js';
import { rejection } from '../contracts/rejection.js';
import type { Rejection } from '../contracts/rejection.js';
import { newRecord } from '../state/new-record.js';
import type { Workflow } from '../state/order-workflow.js';
import { PermanentError } from '../state/errors.js';
import type { Clock, OrdersDatabase, QueueSender, StateStore, Telemetry, VersionedRecord } from '../state/ports.js';
import { busy, idTaken, sendRejected } from '../status/report-status.js';
import type { AdmissionGate } from './admission-gate.js';
import { orderHash } from './order-hash.js';

/** What submit needs. */
export interface SubmitDeps {
  readonly orders: OrdersDatabase;
  readonly store: StateStore;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly sender: QueueSender;
  readonly gate: AdmissionGate;
  /** The *eager start*: the starter's own code for one order, best effort. */
  readonly startNow: (orderId: string) => Promise<void>;
  readonly policy: SubmitPolicy;
}

/** Settings of submit. */
export interface SubmitPolicy {
  /** Registered applications; each has its own status queue (R114, T56). */
  readonly applications: readonly string[];
  /** The workflow of new orders; a running order keeps its own (R53). */
  readonly workflow: Workflow;
  readonly maxAttempts: number;
  /** Task-level deadline of an order (T68). */
  readonly orderLifetimeMs: number;
  /** What a turned-away application is told to wait. */
  readonly busyRetryAfterMs: number;
}

/** What became of an order message. */
export type SubmitOutcome =
  | { readonly kind: 'accepted'; readonly orderId: string }
  | { readonly kind: 'duplicate'; readonly orderId: string }
  | { readonly kind: 'turnedAway'; readonly orderId: string }
  | { readonly kind: 'rejected'; readonly rejection: Rejection };

/** An order message as far as submit needs it. */
export interface OrderMessage {
  readonly body: unknown;
  /** Differs from message to message, whatever id the sender gave it. */
  readonly brokerId: string;
  /** W3C trace context of the sender, if any. */
  readonly traceparent: string | null;
}

/**
 * Accepts one order message.
 *
 * @throws TransientError when a store can't answer: the message must be delivered again
 */
export async function submitOrder(message: OrderMessage, deps: SubmitDeps): Promise<SubmitOutcome> {
  const parsed = parseOrder(message.body);
  if (!parsed.ok) return { kind: 'rejected', rejection: parsed.rejection };
  const received = parsed.value;
  const { orderId, application } = received;
  if (!deps.policy.applications.includes(application)) {
    return { kind: 'rejected', rejection: rejection('UnknownApplication', 'application: expected a registered one') };
  }
  const mode = await deps.gate.mode();
  if (mode === 'closed' && (await deps.orders.get(orderId)) === undefined) {
    const { sender, clock, policy } = deps;
    const order = { orderId, application, at: clock.now() };
    await sendRejected(order, message.brokerId, busy(policy.busyRetryAfterMs), sender);
    deps.telemetry.event('order-turned-away', { orderId, application });
    return { kind: 'turnedAway', orderId };
  }
  const outcome = await storeOrder(received, message.traceparent, deps);
  if (outcome.kind === 'rejected') await tellOfConflict(received, message.brokerId, deps);
  return outcome;
}

/** The dead letter tells the operator, this tells the application whose order lost the id. */
async function tellOfConflict(received: Order, brokerId: string, { clock, sender }: SubmitDeps): Promise<void> {
  const { orderId, application } = received;
  await sendRejected({ orderId, application, at: clock.now() }, brokerId, idTaken, sender);
}

async function storeOrder(received: Order, traceparent: string | null, deps: SubmitDeps): Promise<SubmitOutcome> {
  const { stored } = await deps.orders.createIfAbsent(received);
  const conflict = conflictBetween(stored, received);
  if (conflict === undefined) return createRecord(stored, traceparent, deps);
  deps.telemetry.alert('order-conflict', { orderId: received.orderId });
  return { kind: 'rejected', rejection: conflict };
}

function conflictBetween(stored: Order, received: Order): Rejection | undefined {
  const fields = differingFields(stored, received);
  if (fields.length === 0) return undefined;
  return rejection('OrderConflict', `another order with this id exists; different fields: ${fields.join(', ')}`);
}

async function createRecord(order: Order, traceparent: string | null, deps: SubmitDeps): Promise<SubmitOutcome> {
  const { orderId } = order;
  const { workflow, maxAttempts, orderLifetimeMs } = deps.policy;
  const input = { order, orderHash: orderHash(order), workflow, maxAttempts, orderLifetimeMs, traceparent };
  const created = await deps.store.createIfAbsent(newRecord(input, deps.clock.now()));
  if (created === 'exists') return acceptExisting(orderId, input.orderHash, deps);
  deps.telemetry.event('order-accepted', { orderId });
  if (deps.gate.mayStartNow()) await deps.startNow(orderId);
  return { kind: 'accepted', orderId };
}

/** An existing record is accepted only if it is of this very order (R74). */
async function acceptExisting(orderId: string, expectedHash: string, deps: SubmitDeps): Promise<SubmitOutcome> {
  const seen = await readableRecord(orderId, deps.store);
  if (seen !== undefined && seen.record.orderHash !== expectedHash) {
    deps.telemetry.alert('order-conflict', { orderId });
    return { kind: 'rejected', rejection: rejection('OrderConflict', 'the state record belongs to another order') };
  }
  deps.telemetry.event('order-duplicate', { orderId });
  return { kind: 'duplicate', orderId };
}

/** A record that this build can't read is left alone; the stored order, which matched, has decided already. */
async function readableRecord(orderId: string, store: StateStore): Promise<VersionedRecord | undefined> {
  try {
    return await store.getLatest(orderId);
  } catch (error) {
    if (error instanceof PermanentError) return undefined;
    throw error;
  }
}
