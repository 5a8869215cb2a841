/**
 * Appends with group commit, and compaction while appends go on. The invariants J1–J4 are in index.ts.
 *
 * A compaction switches appends to the next generation's log, writes the state to that generation's snapshot, and then
 * removes the older generations. Until the snapshot is complete the older files count, so a crash loses nothing (J4).
 */
import { renameSync } from 'node:fs';
import { resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { removeOlderGenerations, snapshotPath, syncDirectory, unfinishedSnapshotPath } from './generations.js';
import { maxRecordBytes } from './frames.js';
import { StorageError, type Journal, type JournalOptions } from './types.js';
import { lockDirectory } from './lock.js';
import type { LogFile } from './log-file.js';
import { ownDirectory } from './own-directory.js';
import { replayStored, startLog, type Stored } from './replay.js';
import { writeSnapshot } from './snapshot-writer.js';

const defaultCompactAfterBytes = 64 * 1024 * 1024;
const compactAtOpenAfterBytes = 1024 * 1024;

/** Appends of one turn; they share one write and one promise. */
interface Batch {
  readonly committed: Promise<void>;
  readonly settle: (failure?: Error) => void;
}

/** Replays what the directory holds through `options.replay`, then opens it for appends. */
export async function openJournal(options: JournalOptions): Promise<Journal> {
  const directory = resolve(options.directory);
  ownDirectory(directory);
  const unlock = lockDirectory(directory);
  try {
    const stored = replayStored(directory, options.replay);
    removeOlderGenerations(directory, stored.generation - stored.logCount + 1);
    const journal = new FileJournal({ ...options, directory }, stored, unlock);
    if (isWorthCompacting(stored, options)) await journal.compact();
    return journal;
  } catch (error) {
    unlock();
    throw error;
  }
}

function isWorthCompacting(stored: Stored, { compactAfterBytes = defaultCompactAfterBytes }: JournalOptions): boolean {
  const wasInterrupted = stored.logCount > 1;
  const limit = Math.max(Math.min(compactAtOpenAfterBytes, compactAfterBytes), stored.snapshotBytes);
  return wasInterrupted || stored.logBytes > limit;
}

class FileJournal implements Journal {
  readonly #options: JournalOptions;
  readonly #unlock: () => void;
  #log: LogFile;
  #generation: number;
  #snapshotBytes: number;
  #batch: Batch | undefined;
  #lastCommit: Promise<void> = Promise.resolve();
  #isFlushing = false;
  #compaction: Promise<void> | undefined;
  #refusal: Error | undefined;

  constructor(options: JournalOptions, stored: Stored, unlock: () => void) {
    this.#options = options;
    this.#unlock = unlock;
    this.#log = stored.log;
    this.#generation = stored.generation;
    this.#snapshotBytes = stored.snapshotBytes;
  }

  append(record: Buffer): Promise<void> {
    if (this.#refusal !== undefined) return Promise.reject(this.#refusal);
    if (record.length > maxRecordBytes) return Promise.reject(tooLarge(record));
    const batch = (this.#batch ??= this.#startBatch());
    try {
      this.#log.add(record);
    } catch (error) {
      this.#fail(error);
    }
    return batch.committed;
  }

  async close(): Promise<void> {
    this.#refusal ??= new Error('The journal is closed.');
    await Promise.allSettled([this.#lastCommit, this.#compaction]);
    this.#log.close();
    this.#unlock();
  }

  async compact(): Promise<void> {
    const generation = this.#generation + 1;
    const older = this.#switchTo(generation);
    try {
      // What the older log holds must be in the snapshot: let its last appends be acknowledged, and then applied (J4).
      await this.#lastCommit;
      await nextTurn();
      await older.sync(); // A torn log with a later one behind it would be damage.
    } finally {
      older.close();
    }
    const { directory, snapshot } = this.#options;
    const unfinished = unfinishedSnapshotPath(directory, generation);
    const bytes = await writeSnapshot(unfinished, snapshot(), () => this.#refusal !== undefined);
    if (bytes === undefined) return; // Closed or failed meanwhile; the older generations still count.
    await this.#write(); // The snapshot may hold effects of appends that are not written yet.
    renameSync(unfinished, snapshotPath(directory, generation));
    syncDirectory(directory);
    removeOlderGenerations(directory, generation);
    this.#snapshotBytes = bytes;
  }

  #switchTo(generation: number): LogFile {
    const next = startLog(this.#options.directory, generation);
    const older = this.#log;
    older.drain();
    if (this.#options.fsync === 'always') older.syncNow();
    this.#log = next;
    this.#generation = generation;
    return older;
  }

  #startBatch(): Batch {
    const batch = createBatch();
    this.#lastCommit = batch.committed;
    if (!this.#isFlushing) this.#scheduleFlush();
    return batch;
  }

  #scheduleFlush(): void {
    // After the poll phase, so that all input of one turn shares a write.
    setImmediate(() => {
      void this.#flush();
    });
  }

  async #flush(): Promise<void> {
    const batch = this.#takeBatch();
    if (batch === undefined) return; // It failed before its turn came.
    this.#isFlushing = true;
    try {
      await this.#write();
      batch.settle();
    } catch (error) {
      batch.settle(this.#fail(error));
    }
    this.#isFlushing = false;
    this.#compactIfGrown();
    if (this.#batch !== undefined) this.#scheduleFlush();
  }

  async #write(): Promise<void> {
    this.#log.drain();
    if (this.#options.fsync === 'always') await this.#log.sync();
  }

  #compactIfGrown(): void {
    const { compactAfterBytes = defaultCompactAfterBytes } = this.#options;
    const hasGrown = this.#log.size > Math.max(compactAfterBytes, 2 * this.#snapshotBytes);
    if (!hasGrown || this.#compaction !== undefined || this.#refusal !== undefined) return;
    this.#compaction = this.compact()
      .catch((error: unknown) => {
        this.#fail(error);
      })
      .finally(() => {
        this.#compaction = undefined;
      });
  }

  /** From here on nothing is stored any more; whoever appends learns why. */
  #fail(cause: unknown): Error {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const failure = new StorageError(
      `The journal in ${this.#options.directory} cannot be written any more: ${reason}. Restart when that is repaired.`,
      { cause },
    );
    if (this.#refusal === undefined) {
      this.#refusal = failure;
      this.#options.onFailure?.(failure);
    }
    this.#takeBatch()?.settle(failure);
    return failure;
  }

  #takeBatch(): Batch | undefined {
    const batch = this.#batch;
    this.#batch = undefined;
    return batch;
  }
}

function createBatch(): Batch {
  const executor: { settle?: Batch['settle'] } = {};
  const committed = new Promise<void>((resolve, reject) => {
    executor.settle = (failure) => {
      if (failure === undefined) resolve();
      else reject(failure);
    };
  });
  return { committed, settle: (failure) => executor.settle?.(failure) };
}

function tooLarge(record: Buffer): Error {
  return new RangeError(`A record of ${record.length} bytes is too large; the limit is ${maxRecordBytes} bytes.`);
}
