/** How an order ends without success: the record keeps the cause, the application gets a public reason (T58, T77). */
import type { StatusReason } from '../contracts/status-message.js';
import type { Timestamp } from '../contracts/timestamp.js';
import type { Actor } from './decision.js';
import { moved, withStatus } from './record-edits.js';
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
