/** Orders and state records for tests. Records in a later state are made by the transitions themselves, never by hand. */
import { orchestrationInstanceId } from '../../functions/contracts/identifiers.js';
import { orderSchema } from '../../functions/contracts/order.js';
import type { Order } from '../../functions/contracts/order.js';
import type { Timestamp } from '../../functions/contracts/timestamp.js';
import type { AdvanceInput, StepReply } from '../../functions/state/advance-input.js';
import { claim } from '../../functions/state/attempt-transitions.js';
import type { Transition } from '../../functions/state/decision.js';
import { newRecord } from '../../functions/state/new-record.js';
import { nextAction } from '../../functions/state/next-action.js';
import { findWorkflow } from '../../functions/state/order-workflow.js';
import type { Workflow } from '../../functions/state/order-workflow.js';
import type { StateRecord } from '../../functions/state/state-record.js';
import type { RecoveryPolicy } from '../../functions/state/recovery-transitions.js';
import { advance } from '../../functions/state/step-transitions.js';
import { startOfTime } from './manual-clock.js';

/** The message of a good order, as an application sends it. */
export function orderMessage(overrides: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    schemaVersion: 1,
    orderId: 'A-1',
    application: 'web-shop',
    customerId: 'customer-7',
    currency: 'EUR',
    lines: [{ sku: 'KETTLE', quantity: 2, unitPriceMinor: 1999 }],
    shippingAddress: { name: 'Ada', line1: '1 Main Street', city: 'Lisbon', postalCode: '1000-001', country: 'PT' },
    paymentToken: 'tok_ok',
    ...overrides,
  };
}

/** A valid order. */
export function anOrder(overrides: Readonly<Record<string, unknown>> = {}): Order {
  return orderSchema.parse(orderMessage(overrides));
}

/** The workflow of version 1: payment, inventory, shipping. */
export const workflowV1: Workflow = mustFind(findWorkflow(1));

/** The workflow of version 3, which is undone after its last failure. */
export const undoWorkflow: Workflow = mustFind(findWorkflow(3));

export const maxFailures = 3;
export const claimLeaseMs = 10_000;
export const stepDeadlineMs = 4_000;
export const deferral = { backoffMs: 500, maxBackoffMs: 60_000, jitter: 0 };
export const orderLifetimeMs = 3_600_000;

/** How the supervisor recovers in tests. */
export const recoveryPolicy: RecoveryPolicy = {
  maxFailures,
  extendedRetries: 0,
  extendedWaitMs: 600_000,
  graceMs: 500,
  backoffMs: 1_000,
  maxBackoffMs: 60_000,
  startByMs: 30_000,
  claimLeaseMs,
  orderLifetimeMs,
};

/** The value, or a failed test when there is none. */
export function mustFind<Value>(value: Value | null | undefined): Value {
  if (value === undefined || value === null) throw new Error('expected a value');
  return value;
}

/** The record of a new order. */
export function aRecord(overrides: Partial<StateRecord> = {}, now: Timestamp = startOfTime): StateRecord {
  const order = anOrder({ orderId: overrides.orderId ?? 'A-1' });
  const input = {
    order,
    orderHash: 'hash',
    workflow: workflowV1,
    maxAttempts: maxFailures,
    orderLifetimeMs,
  };
  return { ...newRecord({ ...input, traceparent: null }, now), ...overrides };
}

/** The record that a transition writes; fails when the transition does not hold. */
export function apply<Input>(
  record: StateRecord,
  transition: Transition<Input>,
  input: Input,
  now: Timestamp = startOfTime,
): StateRecord {
  const decision = transition.decide(record, input, now);
  if (decision.kind !== 'write') throw new Error(`${transition.name}: ${JSON.stringify(decision)}`);
  return decision.record;
}

/** The record after the starter's next claim. */
export function claimed(record: StateRecord = aRecord(), now: Timestamp = startOfTime): StateRecord {
  return apply(record, claim, { attempt: record.attempt + 1, claimLeaseMs }, now);
}

/** The record after its owner's next advance, with a reply to the running step unless it is the first advance. */
export function advanced(record: StateRecord, reply?: Partial<StepReply>, now: Timestamp = startOfTime): StateRecord {
  const full = reply === undefined ? undefined : { ...replyTo(record, 'succeeded'), ...reply };
  return apply(record, advance, advanceInput(record, full), now);
}

/** The input of an advance by the attempt that owns the record. */
export function advanceInput(record: StateRecord, reply?: StepReply): AdvanceInput {
  const instanceId = orchestrationInstanceId(record.orderId, record.attempt);
  const workflow = mustFind(findWorkflow(record.workflowVersion));
  return { instanceId, workflow, stepDeadlineMs, orderLifetimeMs, deferral, reply };
}

/** A reply to the step (or undo) that is running. */
export function replyTo(record: StateRecord, outcome: StepReply['outcome']): StepReply {
  const action = nextAction(record);
  if (action.kind !== 'dispatch') throw new Error('nothing is running');
  const base = { stepId: action.stepId, requestId: action.requestId, outcome };
  return outcome === 'succeeded'
    ? { ...base, result: { reference: `${action.stepId}-reference` } }
    : { ...base, error: { code: outcome === 'refused' ? 'Declined' : 'Closed', message: `${outcome} for a reason` } };
}

/** A record whose three steps are done. */
export function processedRecord(): StateRecord {
  let record = advanced(claimed());
  while (record.processState === 'Processing') record = advanced(record, { outcome: 'succeeded' });
  return record;
}

/** A record whose payment is done and whose inventory step was refused: waiting to be undone. */
export function compensatingRecord(): StateRecord {
  const paid = advanced(advanced(claimed()), {});
  return advanced(paid, replyTo(paid, 'refused'));
}

/** A record that ended in Error at its first step. */
export function failedRecord(): StateRecord {
  const running = advanced(claimed());
  return advanced(running, replyTo(running, 'failed'));
}
