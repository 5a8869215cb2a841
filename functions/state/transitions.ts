/** The one table of transitions: code, the diagram in docs/state-machine.md, property tests and the operator API use it. */
import { claim, release } from './attempt-transitions.js';
import { abandon, compensate, resubmit, retryUndo, skipUndo } from './operator-transitions.js';
import { recover } from './recovery-transitions.js';
import { advance, fail } from './step-transitions.js';

/** All transitions of an existing record. *create* is newRecord(); *timeout* writes nothing; *notified* only empties the outbox. */
export const transitions = {
  claim,
  release,
  advance,
  fail,
  recover,
  resubmit,
  compensate,
  retryUndo,
  skipUndo,
  abandon,
} as const;
