/** Transition *create*: the record as submit writes it, with the initial state of the task and all its steps (R10). */
import type { Order } from '../contracts/order.js';
import { addMs } from '../contracts/timestamp.js';
import type { Timestamp } from '../contracts/timestamp.js';
import { retryBudget } from './order-workflow.js';
import type { Workflow } from './order-workflow.js';
import { withStatus } from './record-edits.js';
import { stateSchemaVersion } from './state-record.js';
import type { StateRecord } from './state-record.js';

/** What a new record is built from. */
export interface NewRecordInput {
  /** The *stored* order: it arbitrates between competing messages (T45). */
  readonly order: Order;
  readonly orderHash: string;
  readonly workflow: Workflow;
  readonly maxAttempts: number;
  readonly orderLifetimeMs: number;
  readonly traceparent: string | null;
}

/** Builds the record of a new order: Pending, attempt 0, all steps NotStarted, status *received* in the outbox. */
export function newRecord(input: NewRecordInput, now: Timestamp): StateRecord {
  const { order, workflow } = input;
  const record: StateRecord = {
    id: order.orderId,
    schemaVersion: stateSchemaVersion,
    workflowVersion: workflow.version,
    orderId: order.orderId,
    application: order.application,
    orderHash: input.orderHash,
    priority: order.priority,
    processState: 'Pending',
    lockedBy: null,
    completeBy: null,
    notBegunSince: null,
    notBefore: now,
    attempt: 0,
    failureCount: 0,
    compensationFailureCount: 0,
    expiresAt: addMs(now, input.orderLifetimeMs),
    budget: { allowed: retryBudget(workflow, input.maxAttempts), spent: 0 },
    steps: workflow.steps.map(({ id }) => ({
      id,
      state: 'NotStarted',
      requestId: null,
      completeBy: null,
      startedAt: null,
      endedAt: null,
      result: null,
      error: null,
      deferrals: 0,
      keyGeneration: 1,
      failureCount: 0,
    })),
    compensation: [],
    outbox: [],
    outboxSeq: 0,
    outboxSince: null,
    statusUndeliverableAt: null,
    history: [{ at: now, actor: 'submit', from: null, to: 'Pending', attempt: 0, note: 'order accepted' }],
    error: null,
    traceparent: input.traceparent,
    createdAt: now,
    updatedAt: now,
  };
  return withStatus(record, 'OrderReceived', null, now);
}
