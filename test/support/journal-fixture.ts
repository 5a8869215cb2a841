/** A journal over a map of absolute records `[key u8][version u32le][filler]`, as its users keep their state. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openJournal, ownDirectory, type Journal, type JournalOptions } from '../../local/journal/index.js';
import { markName } from '../../local/journal/own-directory.js';

export interface JournaledMap {
  readonly journal: Journal;
  readonly state: Map<number, Buffer>;
  /** Applies and appends a record in one go. */
  readonly put: (record: Buffer) => Promise<void>;
}

export function recordOf(key: number, version: number, fillerBytes = 0): Buffer {
  const record = Buffer.alloc(5 + fillerBytes, version % 251);
  record.writeUInt8(key, 0);
  record.writeUInt32LE(version, 1);
  return record;
}

export function versionOf(record: Buffer): number {
  return record.readUInt32LE(1);
}

export async function openMap(
  directory: string,
  options: Partial<Pick<JournalOptions, 'fsync' | 'compactAfterBytes' | 'snapshot'>> = {},
): Promise<JournaledMap> {
  const state = new Map<number, Buffer>();
  const apply = (record: Buffer): void => {
    state.set(record.readUInt8(0), record);
  };
  const journal = await openJournal({
    directory,
    fsync: 'never',
    replay: apply,
    snapshot: () => state.values(),
    ...options,
  });
  return {
    journal,
    state,
    put(record) {
      apply(record);
      return journal.append(record);
    },
  };
}

/** Opens a journal only to list what it holds. */
export async function readRecords(directory: string): Promise<Buffer[]> {
  const records: Buffer[] = [];
  const journal = await openJournal({
    directory,
    fsync: 'never',
    replay: (record) => records.push(record),
    snapshot: () => records,
  });
  await journal.close();
  return records;
}

/** The files of a journal, without the mark of its directory. */
export function filesOf(directory: string): string[] {
  return readdirSync(directory)
    .filter((name) => name !== markName)
    .sort();
}

/** Runs `use` with a directory of its own that is marked as a journal's, and removes that. */
export async function withDirectory<Result>(use: (directory: string) => Promise<Result>): Promise<Result> {
  const directory = mkdtempSync(join(tmpdir(), 'journal-'));
  ownDirectory(directory);
  try {
    return await use(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
