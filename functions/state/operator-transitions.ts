/** What an operator may do with an order that automation has given up (R103, I4). */
import { refused, write } from './decision.js';
import type { Transition } from './decision.js';
import { moved } from './record-edits.js';

/** An operator's request, with the reason for the record's history. */
export interface OperatorInput {
  readonly reason: string;
  /** Extra calls granted to the retry budget. */
  readonly budgetGrant: number;
  /** New task-level deadline. */
  readonly expiresAt: string;
}

/** Error → waiting for another attempt. Completed steps and the attempt number are kept (T6, T84). */
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
      expiresAt: input.expiresAt,
      budget: { ...record.budget, allowed: Math.max(allowed, spent) + input.budgetGrant },
    };
    return write(moved(record, { actor: 'operator', to: 'Pending', note: `resubmit: ${input.reason}`, fields }, now));
  },
};

/** Error or CompensationFailed → to be undone (again), failed entries included. */
export const compensate: Transition<Pick<OperatorInput, 'reason'>> = {
  name: 'compensate',
  actor: 'operator',
  from: ['Error', 'CompensationFailed'],
  to: ['Compensating'],
  decide: (record, input, now) => {
    if (!compensate.from.includes(record.processState)) return refused('wrongState');
    const compensation = record.compensation.map((entry) =>
      entry.state === 'Failed' ? { ...entry, state: 'Recorded' as const } : entry,
    );
    const fields = { lockedBy: null, completeBy: null, notBefore: now, compensationFailureCount: 0, compensation };
    return write(
      moved(record, { actor: 'operator', to: 'Compensating', note: `compensate: ${input.reason}`, fields }, now),
    );
  },
};
