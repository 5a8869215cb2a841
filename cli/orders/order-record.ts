/** A state record as the HTTP API shows it, as far as this command line reads it. */
import { z } from 'zod';

const stepSchema = z.looseObject({
  id: z.string(),
  state: z.string(),
  startedAt: z.string().nullable(),
  endedAt: z.string().nullable(),
  completeBy: z.string().nullable(),
  result: z.record(z.string(), z.unknown()).nullable(),
  error: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
  failureCount: z.number().optional(),
});

const compensationSchema = z.looseObject({
  seq: z.number(),
  stepId: z.string(),
  action: z.string(),
  key: z.string(),
  state: z.string(),
  failureCount: z.number().optional(),
});

const historySchema = z.looseObject({
  at: z.string(),
  actor: z.string(),
  from: z.string().nullable(),
  to: z.string(),
  attempt: z.number(),
  note: z.string(),
});

export const orderRecordSchema = z.looseObject({
  orderId: z.string(),
  application: z.string(),
  priority: z.string(),
  workflowVersion: z.number(),
  processState: z.string(),
  attempt: z.number(),
  failureCount: z.number(),
  compensationFailureCount: z.number(),
  lockedBy: z.string().nullable(),
  completeBy: z.string().nullable(),
  notBefore: z.string(),
  expiresAt: z.string(),
  createdAt: z.string(),
  updatedAt: z.string(),
  budget: z.looseObject({ allowed: z.number(), spent: z.number() }),
  steps: z.array(stepSchema),
  compensation: z.array(compensationSchema),
  outbox: z.array(z.looseObject({ seq: z.number(), kind: z.string(), at: z.string() })),
  history: z.array(historySchema),
  error: z.looseObject({ code: z.string(), message: z.string(), stepId: z.string().nullable() }).nullable(),
});

export type OrderRecord = Readonly<z.infer<typeof orderRecordSchema>>;

const terminalStates: readonly string[] = ['Processed', 'Error', 'Compensated', 'CompensationFailed'];

/** True when only an operator moves the order on. */
export function isTerminal({ processState }: OrderRecord): boolean {
  return terminalStates.includes(processState);
}

/** The step that runs or was refused, or what is being undone; else how far the order has come. */
export function currentStep(record: OrderRecord): string {
  const undo = record.compensation.find(({ state }) => state === 'Running');
  if (undo !== undefined) return `${undo.action} of ${undo.stepId}`;
  const halted = record.steps.find(({ state }) => state === 'Running' || state === 'Refused' || state === 'Failed');
  if (halted !== undefined) return halted.id;
  const done = record.steps.filter(({ state }) => state === 'Completed').length;
  return `${done} of ${record.steps.length} done`;
}

/** What the newest entry of the history says. */
export function lastHappening({ history }: OrderRecord): string {
  const last = history.at(-1);
  return last === undefined ? '' : `${last.actor}: ${last.note}`;
}
