/**
 * The append-only journal that the embedded broker, Cosmos DB and Functions host persist with.
 *
 * Invariants
 * J1 A record whose `append` has resolved survives `kill -9` of the process (and power loss when `fsync` is 'always').
 * J2 Records come back in the order of their `append` calls; a torn tail is cut off, never half-read.
 * J3 One append is atomic: it is replayed whole or not at all.
 * J4 Compaction never loses an acknowledged record. It needs *absolute* records: replaying one whose effect the snapshot
 *    already holds must change nothing.
 */

/** How a journal is opened. */
export interface JournalOptions {
  /** Directory of this journal alone; created when missing. A second process on the same directory is refused. */
  readonly directory: string;
  /** 'never' survives kill -9; 'always' also survives power loss (group commit). */
  readonly fsync: 'never' | 'always';
  /** Called for each stored record, in order, before `openJournal` resolves. */
  readonly replay: (record: Buffer) => void;
  /** The present state as records. May be iterated over several turns of the event loop while appends go on. */
  readonly snapshot: () => Iterable<Buffer>;
}

/** An open journal. */
export interface Journal {
  /** Appends one record; resolves when it is durable. Appends of one turn of the event loop share one write. */
  append(record: Buffer): Promise<void>;
  /** Flushes what is pending and releases the directory. */
  close(): Promise<void>;
}

export { openJournal } from './journal.js';
