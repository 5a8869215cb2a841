/** What a transition rule answers: expected endings are data, never exceptions. */
import type { Timestamp } from '../contracts/timestamp.js';
import type { ProcessState, StateRecord } from './state-record.js';

/** Who makes a transition. */
export type Actor = 'submit' | 'starter' | 'orchestrator' | 'supervisor' | 'operator' | 'status';

/** Why a transition does not hold. */
export type RefusalReason =
  | 'notClaimable' // not waiting, not yet due, or taken
  | 'superseded' // another attempt (or nobody) owns the order now (I1)
  | 'notExpired' // the attempt still has time
  | 'changedMeanwhile' // the record is no longer as it was seen
  | 'wrongState' // the transition does not start in this state
  | 'foreignOutcome'; // the outcome does not belong to the running step

/** Write this record, or nothing is left to do, or the rule does not hold. */
export type Decision =
  | { readonly kind: 'write'; readonly record: StateRecord }
  | { readonly kind: 'alreadyDone' }
  | { readonly kind: 'refused'; readonly reason: RefusalReason };

/** One row of the transition table. */
export interface Transition<Input> {
  readonly name: string;
  readonly actor: Actor;
  readonly from: readonly ProcessState[];
  readonly to: readonly ProcessState[];
  /** The rule: no clock, no random, no I/O. */
  readonly decide: (record: StateRecord, input: Input, now: Timestamp) => Decision;
}

/** The rule holds: write this record. */
export function write(record: StateRecord): Decision {
  return { kind: 'write', record };
}

/** The record already says what was wanted (I2). */
export const alreadyDone: Decision = { kind: 'alreadyDone' };

/** The rule does not hold. */
export function refused(reason: RefusalReason): Decision {
  return { kind: 'refused', reason };
}
