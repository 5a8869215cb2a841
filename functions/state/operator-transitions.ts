/** What an operator may do with an order that automation has given up (R103, I4). */
import type { Timestamp } from '../contracts/timestamp.js';
import { alreadyDone, refused, write } from './decision.js';
import type { Transition } from './decision.js';
import { gaveUp, undone } from './endings.js';
import { moved, openCompensation, withCompensation } from './record-edits.js';
import { isTerminal } from './state-record.js';
import type { CompensationEntry, StateRecord, StepRecord } from './state-record.js';

/** An operator's request, with the reason for the record's history. */
export interface OperatorInput {
  readonly reason: string;
  /** Extra calls granted to the retry budget. */
  readonly budgetGrant: number;
  /** New task-level deadline. */
  readonly expiresAt: string;
}

/**
 * Error → waiting for another attempt. Completed steps and the attempt number are kept (T6, T84). A step that has
 * definitely failed gets another key; one whose outcome is uncertain keeps its key, so that nothing can be done twice.
 */
export const resubmit: Transition<OperatorInput> = {
  name: 'resubmit',
  actor: 'operator',
  from: ['Error'],
  to: ['Pending'],
  decide: (record, input, now) => {
    if (record.processState !== 'Error') return refused('wrongState');
    const { allowed, spent } = record.budget;
    const fields = {
      lockedBy: null,
      completeBy: null,
      notBefore: now,
      failureCount: 0,
      error: null,
      steps: record.steps.map((step) => ({ ...withKeyOfNextTry(record, step), failureCount: 0 })),
      expiresAt: input.expiresAt,
      budget: { ...record.budget, allowed: Math.max(allowed, spent) + input.budgetGrant },
    };
    return write(moved(record, { actor: 'operator', to: 'Pending', note: `resubmit: ${input.reason}`, fields }, now));
  },
};

function hasDefinitelyFailed({ compensation }: StateRecord, { id, state }: StepRecord): boolean {
  const entry = compensation.find(({ stepId }) => stepId === id);
  return state === 'Failed' && entry?.uncertain === false;
}

function withKeyOfNextTry(record: StateRecord, step: StepRecord): StepRecord {
  return hasDefinitelyFailed(record, step) ? { ...step, keyGeneration: step.keyGeneration + 1 } : step;
}

/** The undo is to be tried again: under another key only if it has definitely failed under this one. */
function toBeUndoneAgain(entry: CompensationEntry): CompensationEntry {
  const hasFailed = entry.state === 'Failed' && !entry.undoUncertain;
  const undoGeneration = hasFailed ? entry.undoGeneration + 1 : entry.undoGeneration;
  const undoUncertain = entry.undoUncertain || entry.state === 'Running';
  return { ...entry, state: 'Recorded', undoGeneration, undoUncertain, failureCount: 0 };
}

/** Error or CompensationFailed → to be undone (again), failed entries included. */
export const compensate: Transition<Pick<OperatorInput, 'reason' | 'expiresAt'>> = {
  name: 'compensate',
  actor: 'operator',
  from: ['Error', 'CompensationFailed'],
  to: ['Compensating'],
  decide: (record, input, now) => {
    if (!compensate.from.includes(record.processState)) return refused('wrongState');
    const compensation = record.compensation.map((entry) => ({
      ...(entry.state === 'Failed' ? toBeUndoneAgain(entry) : entry),
      failureCount: 0,
    }));
    const fields = { ...freed(input, now), compensation };
    return write(
      moved(record, { actor: 'operator', to: 'Compensating', note: `compensate: ${input.reason}`, fields }, now),
    );
  },
};

/** To be claimed anew for undoing, with as much time to wait for the remote service as a new order has. */
function freed({ expiresAt }: Pick<OperatorInput, 'expiresAt'>, now: Timestamp): Partial<StateRecord> {
  return { lockedBy: null, completeBy: null, notBefore: now, compensationFailureCount: 0, expiresAt };
}

/** One entry of the compensation log whose undo is not finished. */
export interface UndoInput extends Pick<OperatorInput, 'reason' | 'expiresAt'> {
  readonly stepId: string;
}

function hasUnfinishedUndo(record: StateRecord, stepId: string): boolean {
  const entry = record.compensation.find((candidate) => candidate.stepId === stepId);
  const isUnfinished = entry !== undefined && entry.state !== 'Done' && entry.state !== 'Skipped';
  return record.processState === 'CompensationFailed' && isUnfinished;
}

/** CompensationFailed → the undo of one step is tried again. */
export const retryUndo: Transition<UndoInput> = {
  name: 'retryUndo',
  actor: 'operator',
  from: ['CompensationFailed'],
  to: ['Compensating'],
  decide: (record, input, now) => {
    const { stepId, reason } = input;
    if (!hasUnfinishedUndo(record, stepId)) return refused('wrongState');
    const compensation = record.compensation.map((entry) => (entry.stepId === stepId ? toBeUndoneAgain(entry) : entry));
    return write(
      moved(
        { ...record, compensation },
        {
          actor: 'operator',
          to: 'Compensating',
          note: `retry undo of ${stepId}: ${reason}`,
          fields: freed(input, now),
        },
        now,
      ),
    );
  },
};

/** CompensationFailed → one step is left as it is for good; with no undo left to do the order is Compensated. */
export const skipUndo: Transition<UndoInput> = {
  name: 'skipUndo',
  actor: 'operator',
  from: ['CompensationFailed'],
  to: ['CompensationFailed', 'Compensating', 'Compensated'],
  decide: (record, input, now) => {
    const { stepId, reason } = input;
    if (!hasUnfinishedUndo(record, stepId)) return refused('wrongState');
    const skipped = withCompensation(record, stepId, { state: 'Skipped' });
    const note = `skip undo of ${stepId}: ${reason}`;
    const othersFailed = skipped.compensation.some((entry) => entry.state === 'Failed');
    if (othersFailed) return write(moved(skipped, { actor: 'operator', to: 'CompensationFailed', note }, now));
    if (openCompensation(skipped).length === 0) return write(undone(skipped, now, { actor: 'operator', note }));
    return write(moved(skipped, { actor: 'operator', to: 'Compensating', note, fields: freed(input, now) }, now));
  },
};

/** Anything not finished → given up by an operator. A running attempt is stopped by the fence; nothing is undone. */
export const abandon: Transition<Pick<OperatorInput, 'reason'>> = {
  name: 'abandon',
  actor: 'operator',
  from: ['Pending', 'Processing', 'Compensating', 'Error', 'CompensationFailed'],
  to: ['Error', 'CompensationFailed'],
  decide: (record, { reason }, now) => {
    if (!abandon.from.includes(record.processState)) return refused('wrongState');
    if (isTerminal(record) && record.error?.code === 'Abandoned') return alreadyDone;
    const isUndo = record.processState === 'Compensating' || record.processState === 'CompensationFailed';
    const ending = {
      actor: 'operator',
      to: isUndo ? 'CompensationFailed' : 'Error',
      code: 'Abandoned',
      message: reason,
    } as const;
    const ended = gaveUp({ ...record, lockedBy: null }, ending, now);
    // The application has been told of a failed order before: no second message.
    const { outbox, outboxSeq, outboxSince } = record;
    return write(isTerminal(record) ? { ...ended, outbox, outboxSeq, outboxSince } : ended);
  },
};
