/**
 * The state record: one document an order in the state store. Steps, compensation log, outbox and a bounded history live
 * in it, so that each transition is one atomic conditional write (decision 0001).
 *
 * Field names are the article's in camelCase; docs/state-machine.md maps them. Null is written as null (T8); fields this
 * build does not know survive a replace (T41).
 */
import { z } from 'zod';
import { applicationSchema, orderIdSchema, stepIdSchema } from '../contracts/identifiers.js';
import { statusKindSchema, statusReasonSchema } from '../contracts/status-message.js';
import { timestampSchema } from '../contracts/timestamp.js';

/** The newest form of the record that this build reads and the one it writes. */
export const stateSchemaVersion = 3;

export const processStateSchema = z.enum([
  'Pending',
  'Processing',
  'Processed',
  'Error',
  'Compensating',
  'Compensated',
  'CompensationFailed',
]);

const errorSchema = z.looseObject({ code: z.string(), message: z.string() });

const stepSchema = z.looseObject({
  id: stepIdSchema,
  state: z.enum(['NotStarted', 'Running', 'Completed', 'Refused', 'Failed']),
  requestId: z.string().nullable(),
  completeBy: timestampSchema.nullable(),
  startedAt: timestampSchema.nullable(),
  endedAt: timestampSchema.nullable(),
  result: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).nullable(),
  error: errorSchema.nullable(),
  /** How often the agent has deferred the step. */
  deferrals: z.int().min(0).default(0),
  /** Grows when an operator asks for another try of a step that has definitely failed. */
  keyGeneration: z.int().min(1).default(1),
  /** Attempts of the order that failed at this step. */
  failureCount: z.int().min(0),
});

/** What may have to be undone: recorded before the step's request is sent (T71, T72), holds references only (R47). */
const compensationEntrySchema = z.looseObject({
  seq: z.int().min(1),
  stepId: stepIdSchema,
  action: z.string(),
  key: z.string(),
  state: z.enum(['Recorded', 'Running', 'Done', 'Failed', 'Skipped']),
  requestId: z.string().nullable(),
  /** An earlier request of this step has no known outcome: a later refusal does not prove that nothing was done. */
  uncertain: z.boolean(),
  /** How often the agent has deferred the undo. */
  deferrals: z.int().min(0).default(0),
  /** Grows when an operator asks for another try of an undo that has definitely failed. */
  undoGeneration: z.int().min(1).default(1),
  /** An earlier request of this undo has no known outcome, or may have: its key must stay. */
  undoUncertain: z.boolean().default(true),
  /** Attempts of the order that failed at this undo. */
  failureCount: z.int().min(0),
});

/** A status message that is still to be sent. */
const outboxEntrySchema = z.looseObject({
  seq: z.int().min(1),
  kind: statusKindSchema,
  at: timestampSchema,
  reason: statusReasonSchema.nullable(),
});

const historyEntrySchema = z.looseObject({
  at: timestampSchema,
  actor: z.string(),
  from: processStateSchema.nullable(),
  to: processStateSchema,
  attempt: z.int().min(0),
  note: z.string(),
});

export const stateRecordSchema = z.looseObject({
  id: orderIdSchema,
  schemaVersion: z.literal(stateSchemaVersion),
  workflowVersion: z.int().min(1),
  orderId: orderIdSchema,
  application: applicationSchema,
  orderHash: z.string(),
  priority: z.enum(['normal', 'high']),
  processState: processStateSchema,
  lockedBy: z.string().min(1).nullish().default(null),
  completeBy: timestampSchema.nullish().default(null),
  /**
   * Since when the attempt that owns the order has not dispatched anything; null when it has, or nobody owns the order. It
   * follows from the rest of the record and is indexed, so that the starter can count such attempts.
   */
  notBegunSince: timestampSchema.nullable(),
  notBefore: timestampSchema,
  attempt: z.int().min(0),
  /** Failed attempts, at whatever step. */
  failureCount: z.int().min(0).default(0),
  compensationFailureCount: z.int().min(0).default(0),
  expiresAt: timestampSchema,
  budget: z.looseObject({ allowed: z.int().min(0), spent: z.int().min(0) }),
  steps: z.array(stepSchema).min(1),
  compensation: z.array(compensationEntrySchema),
  outbox: z.array(outboxEntrySchema),
  outboxSeq: z.int().min(0),
  /** Since when a status waits in the outbox; null when none does. Indexed, so that the supervisor finds what a crash left. */
  outboxSince: timestampSchema.nullable(),
  /** When the application's queue first did not take a status; null: it always did. */
  statusUndeliverableAt: timestampSchema.nullable().default(null),
  history: z.array(historyEntrySchema),
  error: z
    .looseObject({ code: z.string(), message: z.string(), stepId: z.string().nullable(), at: timestampSchema })
    .nullable(),
  traceparent: z.string().nullable(),
  createdAt: timestampSchema,
  updatedAt: timestampSchema,
});

export type StateRecord = Readonly<z.infer<typeof stateRecordSchema>>;
export type ProcessState = z.infer<typeof processStateSchema>;
export type StepRecord = Readonly<StateRecord['steps'][number]>;
export type CompensationEntry = Readonly<StateRecord['compensation'][number]>;
export type OutboxEntry = Readonly<StateRecord['outbox'][number]>;

/** States that only an operator leaves (I4). */
export const terminalStates: readonly ProcessState[] = ['Processed', 'Error', 'Compensated', 'CompensationFailed'];

/** True when only an operator can move the order on. */
export function isTerminal(record: StateRecord): boolean {
  return terminalStates.includes(record.processState);
}
