/** The shape of a fault plan. */

/** What a matching rule does to an operation. */
export const faultActions = [
  'delay', // go on after `delayMs`
  'drop', // pretend success towards the other side, do nothing
  'duplicate', // do it twice
  'refuse', // answer with `error`, do nothing
  'cutBeforeCommit', // close the connection, do nothing
  'cutAfterCommit', // do it durably, then close the connection without an answer (lost acknowledgement)
  'pause', // hold the operation until the rules are replaced
] as const;
export type FaultAction = (typeof faultActions)[number];

/** One fault. The operations and entities are listed in each part's README. */
export interface FaultRule {
  /** Operation as the part names it, for example 'send', 'replace' or 'startOrchestration'. */
  readonly operation: string;
  /** Queue, container or function name; absent: any. */
  readonly entity?: string;
  readonly action: FaultAction;
  /** How many matches pass untouched first; default 0. */
  readonly skip?: number;
  /** How many matches are hit; default all. */
  readonly times?: number;
  /** Chance of a hit, 0 to 1; default 1. */
  readonly probability?: number;
  /** For 'delay'. */
  readonly delayMs?: number;
  /** For 'refuse': the part's error name, for example 'com.microsoft:server-busy' or '503'. */
  readonly error?: string;
}

/** Rules with the seed that makes their chances repeatable; the content of a faults file. */
export interface FaultPlan {
  readonly seed: number;
  readonly rules: readonly FaultRule[];
}
