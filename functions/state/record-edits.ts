/** Small edits that the transition rules are made of. Each returns a new record. */
import type { StatusKind, StatusReason } from '../contracts/status-message.js';
import type { Timestamp } from '../contracts/timestamp.js';
import type { Actor } from './decision.js';
import { hasBegun } from './own-requests.js';
import { isTerminal } from './state-record.js';
import type { CompensationEntry, ProcessState, StateRecord, StepRecord } from './state-record.js';

const historyLimit = 50;

/** What changes in a transition, and who made it. */
export interface Change {
  readonly actor: Actor;
  readonly to: ProcessState;
  readonly note: string;
  readonly fields?: Partial<StateRecord>;
}

/** Moves the record to a state, keeps a history entry (newest 50) and the time of the change. */
export function moved(record: StateRecord, change: Change, now: Timestamp): StateRecord {
  const next = { ...record, ...change.fields, processState: change.to };
  const entry = {
    at: now,
    actor: change.actor,
    from: record.processState,
    to: change.to,
    attempt: next.attempt,
    note: change.note,
  };
  return {
    ...next,
    notBegunSince: notBegunSince(record, next, now),
    updatedAt: now,
    history: [...next.history, entry].slice(-historyLimit),
  };
}

function notBegunSince(before: StateRecord, next: StateRecord, now: Timestamp): Timestamp | null {
  const isOwned = next.lockedBy !== null && !isTerminal(next);
  if (!isOwned || hasBegun(next)) return null;
  return next.lockedBy === before.lockedBy ? (before.notBegunSince ?? now) : now;
}

/** Counts a failure of the order at one of its steps. */
export function withFailure(record: StateRecord, stepId: string): StateRecord {
  const steps = record.steps.map((step) =>
    step.id === stepId ? { ...step, failureCount: step.failureCount + 1 } : step,
  );
  return { ...record, steps, failureCount: record.failureCount + 1 };
}

/** Counts a failure of the order at one of its undos. */
export function withUndoFailure(record: StateRecord, stepId: string): StateRecord {
  const compensation = record.compensation.map((entry) =>
    entry.stepId === stepId ? { ...entry, failureCount: entry.failureCount + 1 } : entry,
  );
  return { ...record, compensation, compensationFailureCount: record.compensationFailureCount + 1 };
}

/** Adds a status message to the outbox (T53). */
export function withStatus(
  record: StateRecord,
  kind: StatusKind,
  reason: StatusReason | null,
  now: Timestamp,
): StateRecord {
  const seq = record.outboxSeq + 1;
  return {
    ...record,
    outbox: [...record.outbox, { seq, kind, at: now, reason }],
    outboxSeq: seq,
    outboxSince: record.outboxSince ?? now,
  };
}

/** Removes the status messages that have been sent. */
export function withoutSent(record: StateRecord, sentSeqs: readonly number[]): StateRecord {
  if (sentSeqs.length === 0) return record;
  const outbox = record.outbox.filter((entry) => !sentSeqs.includes(entry.seq));
  return { ...record, outbox, outboxSince: outbox[0]?.at ?? null };
}

/** Changes one step. */
export function withStep(record: StateRecord, stepId: string, fields: Partial<StepRecord>): StateRecord {
  const steps = record.steps.map((step) => (step.id === stepId ? { ...step, ...fields } : step));
  return { ...record, steps };
}

/** Changes the compensation entry of one step. */
export function withCompensation(record: StateRecord, stepId: string, fields: Partial<CompensationEntry>): StateRecord {
  const compensation = record.compensation.map((entry) => (entry.stepId === stepId ? { ...entry, ...fields } : entry));
  return { ...record, compensation };
}

/** The compensation entries that still have to be undone, the newest first (R44). */
export function openCompensation(record: StateRecord): readonly CompensationEntry[] {
  return record.compensation
    .filter((entry) => entry.state === 'Recorded' || entry.state === 'Running')
    .sort((a, b) => b.seq - a.seq);
}
