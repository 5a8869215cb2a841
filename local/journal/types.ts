/** What users of a journal see; the invariants J1–J4 are in index.ts. */

/** How a journal is opened. */
export interface JournalOptions {
  /** Directory of this journal alone; made if missing. One that holds other files, or is in use, is refused. */
  readonly directory: string;
  /** 'never' survives kill -9; 'always' also survives power loss (group commit). */
  readonly fsync: 'never' | 'always';
  /** Called for each stored record, in order, before `openJournal` resolves. */
  readonly replay: (record: Buffer) => void;
  /**
   * The present state as records. May be iterated over several turns of the event loop while appends go on.
   * It must hold the effect of every append that resolved in an earlier turn: apply a record before its `append`, or
   * right when that resolves.
   */
  readonly snapshot: () => Iterable<Buffer>;
  /** Size of the log from which it is compacted while open; default 64 MiB, and at least twice the last snapshot. */
  readonly compactAfterBytes?: number;
  /** Called once when nothing can be stored any more, for example on a full disk; later appends are rejected. */
  readonly onFailure?: ((error: Error) => void) | undefined;
}

/** Nothing can be stored any more. */
export class StorageError extends Error {
  override readonly name = 'StorageError';
}

/** An open journal. */
export interface Journal {
  /** Appends one record; resolves when it is durable. Appends of one turn of the event loop share one write. */
  append(record: Buffer): Promise<void>;
  /** Flushes what is pending and releases the directory. */
  close(): Promise<void>;
}
