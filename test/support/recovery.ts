/** Records on their way to the supervisor, and what it makes of them. */
import { addMs } from '../../functions/contracts/timestamp.js';
import { recover } from '../../functions/state/recovery-transitions.js';
import type { RecoverInput, RecoveryPolicy } from '../../functions/state/recovery-transitions.js';
import type { StateRecord } from '../../functions/state/state-record.js';
import { advanced, apply, claimed, compensatingRecord, recoveryPolicy, workflowV1 } from './builders.js';
import { startOfTime } from './manual-clock.js';

/** A time so many milliseconds after the start of time. */
export const later = (ms: number): string => addMs(startOfTime, ms);

/** An attempt that has dispatched its first step. */
export const begun = (fields: Partial<StateRecord> = {}): StateRecord => ({ ...advanced(claimed()), ...fields });

/** An attempt that undoes the payment, the only step that was done. */
export const undoing = (fields: Partial<StateRecord> = {}): StateRecord => ({
  ...advanced(claimed(compensatingRecord())),
  ...fields,
});

/** The input of a recovery of the record as it is; the attempt has timed out. */
export function recoverInput(record: StateRecord, overrides: Partial<RecoverInput> = {}): RecoverInput {
  const observed = { observedLockedBy: record.lockedBy, observedCompleteBy: record.completeBy };
  return { ...observed, instance: 'timedOut', workflow: workflowV1, policy: recoveryPolicy, jitter: 0, ...overrides };
}

/** The first moment at which an attempt counts as expired. */
export const dueAt = (record: StateRecord): string => addMs(record.completeBy ?? startOfTime, recoveryPolicy.graceMs);

/** Recovers at the first moment at which that is allowed. */
export function recovered(record: StateRecord, overrides: Partial<RecoverInput> = {}): StateRecord {
  return apply(record, recover, recoverInput(record, overrides), dueAt(record));
}

/** The input of a recovery with other limits. */
export const afterPolicy = (policy: Partial<RecoveryPolicy>): Partial<RecoverInput> => ({
  policy: { ...recoveryPolicy, ...policy },
});

/** The order after so many attempts that each timed out at the step that was open. */
export function afterFailures(record: StateRecord, count: number): StateRecord {
  let next = record;
  for (let failed = 0; failed < count; failed += 1) {
    const waiting = recovered(next);
    next = advanced(claimed({ ...waiting, notBefore: startOfTime }));
  }
  return next;
}
