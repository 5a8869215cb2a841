/** Reads back what a journal's directory holds (J2, J3). */
import { scanFrames } from './frames.js';
import { findGenerations, logPath, snapshotPath, syncDirectory } from './generations.js';
import { LogFile } from './log-file.js';

/** A replayed journal, ready for appends to its newest log. */
export interface Stored {
  readonly generation: number;
  readonly log: LogFile;
  /** More than one when a compaction was interrupted. */
  readonly logCount: number;
  readonly logBytes: number;
  readonly snapshotBytes: number;
}

/** Calls `replay` for each stored record: those of the newest snapshot, then those of the logs behind it. */
export function replayStored(directory: string, replay: (record: Buffer) => void): Stored {
  const { snapshot, logs } = findGenerations(directory);
  const snapshotBytes = snapshot === undefined ? 0 : replayWhole(snapshotPath(directory, snapshot), replay);
  // Only the newest log may have a torn tail: an older one was complete before the next one began.
  const olderBytes = logs
    .slice(0, -1)
    .reduce((sum, generation) => sum + replayWhole(logPath(directory, generation), replay), 0);
  const generation = logs.at(-1) ?? 0;
  const path = logPath(directory, generation);
  if (logs.length === 0) {
    return { generation, log: startLog(directory, generation), logCount: 1, logBytes: 0, snapshotBytes };
  }
  const { validBytes, end } = scanFrames(path, replay);
  if (end === 'damaged') throw damaged(path, validBytes);
  const log = LogFile.reopen(path, validBytes);
  return { generation, log, logCount: logs.length, logBytes: olderBytes + validBytes, snapshotBytes };
}

/** Creates an empty log whose name survives a power loss. */
export function startLog(directory: string, generation: number): LogFile {
  const log = LogFile.create(logPath(directory, generation));
  syncDirectory(directory);
  return log;
}

function replayWhole(path: string, replay: (record: Buffer) => void): number {
  const { validBytes, end } = scanFrames(path, replay);
  if (end !== 'clean') throw damaged(path, validBytes);
  return validBytes;
}

function damaged(path: string, validBytes: number): Error {
  return new Error(
    `${path} is damaged behind byte ${validBytes}: stored records cannot be read. ` +
      'Restore the file, or remove the data directory to start anew.',
  );
}
