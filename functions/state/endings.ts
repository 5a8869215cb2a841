/** How an order ends without success: the record keeps the cause, the application gets a public reason (T58, T77). */
import type { StatusReason } from '../contracts/status-message.js';
import { addMs } from '../contracts/timestamp.js';
import type { Timestamp } from '../contracts/timestamp.js';
import type { Actor } from './decision.js';
import type { Workflow } from './order-workflow.js';
import { moved, openCompensation, withStatus } from './record-edits.js';
import type { StateRecord } from './state-record.js';

/** Public reasons by how the order ended. */
const publicReasons = {
  Error: { code: 'Failed', message: 'The order could not be finished. We are looking into it.' },
  Refused: { code: 'Refused', message: 'The order was refused. Everything done for it was undone.' },
  Undone: { code: 'Undone', message: 'The order could not be finished. Everything done for it was undone.' },
  CompensationFailed: { code: 'UndoIncomplete', message: 'The order could not be finished. We are looking into it.' },
} as const satisfies Record<string, StatusReason>;

/** The ending of an order that was not processed. */
export interface Ending {
  readonly actor: Actor;
  readonly to: 'Error' | 'CompensationFailed';
  readonly code: string;
  readonly message: string;
  readonly stepId?: string;
}

/** Ends an order with a recorded cause and status *failed*. `lockedBy` stays, so that a repeat is recognised (T34). */
export function gaveUp(record: StateRecord, ending: Ending, now: Timestamp): StateRecord {
  const { code, message, stepId } = ending;
  const fields = { completeBy: null, error: { code, message, stepId: stepId ?? null, at: now } };
  const ended = moved(record, { actor: ending.actor, to: ending.to, note: `${code}: ${message}`, fields }, now);
  return withStatus(ended, 'OrderFailed', publicReasons[ending.to], now);
}

/** Why automation cannot finish an order. */
export interface LastFailure {
  readonly actor: Actor;
  readonly code: string;
  readonly message: string;
  readonly stepId?: string;
}

/** What the end of an order depends on. */
export interface EndingRules {
  /** `undefined` when this build does not know the workflow of the order. */
  readonly workflow: Workflow | undefined;
  /** How long an undo may take, counted from its beginning. */
  readonly orderLifetimeMs: number;
}

/** After the last failure an operator decides, or what was done is undone: the workflow says which. */
export function cannotFinish(
  record: StateRecord,
  failure: LastFailure,
  rules: EndingRules,
  now: Timestamp,
): StateRecord {
  if (rules.workflow?.afterLastFailure !== 'undo') return gaveUp(record, { ...failure, to: 'Error' }, now);
  const { actor, code, message, stepId } = failure;
  const withCause = { ...record, error: { code, message, stepId: stepId ?? null, at: now } };
  return beginUndo(withCause, { actor, note: `${code}: ${message}` }, rules, now);
}

/**
 * Frees an order to be undone by its next attempt, under a higher fencing token than anything before it (T75). The undo has
 * as much time as a new order. An order with nothing to undo ends at once.
 */
export function beginUndo(
  record: StateRecord,
  { actor, note }: { readonly actor: Actor; readonly note: string },
  { orderLifetimeMs }: Pick<EndingRules, 'orderLifetimeMs'>,
  now: Timestamp,
): StateRecord {
  if (openCompensation(record).length === 0) return undone(record, now, { actor, note: `${note}, nothing to undo` });
  const expiresAt = addMs(now, orderLifetimeMs);
  const fields = { lockedBy: null, completeBy: null, notBefore: now, expiresAt };
  return moved(record, { actor, to: 'Compensating', note, fields }, now);
}

/** What ends an order whose completed work is undone. */
const everythingUndone = { actor: 'orchestrator', note: 'everything is undone' } as const;

/** Ends an order whose completed work is undone; the cause stays the one that began the undo. */
export function undone(
  record: StateRecord,
  now: Timestamp,
  by: { readonly actor: Actor; readonly note: string } = everythingUndone,
): StateRecord {
  const change = { ...by, to: 'Compensated', fields: { completeBy: null } } as const;
  const wasRefused = record.steps.some((step) => step.state === 'Refused');
  return withStatus(moved(record, change, now), 'OrderFailed', publicReasons[wasRefused ? 'Refused' : 'Undone'], now);
}
