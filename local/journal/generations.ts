/**
 * The files of a journal. Generation n starts with `<n>.snapshot` (the whole state; none before the first compaction)
 * and goes on in `<n>.log`. While generation n + 1 is being made, its log exists already and its snapshot does not:
 * then the state is the newest snapshot followed by every log from its number on.
 */
import { closeSync, fsyncSync, openSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const namePattern = /^(\d+)\.(snapshot|log)$/;
const unfinishedSuffix = '.unfinished';

/** What lies in a journal's directory. */
export interface Generations {
  /** Number of the newest snapshot, if there is one. */
  readonly snapshot: number | undefined;
  /** Numbers of the logs to replay behind it, ascending without a gap; empty for a new journal. */
  readonly logs: readonly number[];
}

export function snapshotPath(directory: string, generation: number): string {
  return join(directory, `${generation}.snapshot`);
}

export function unfinishedSnapshotPath(directory: string, generation: number): string {
  return snapshotPath(directory, generation) + unfinishedSuffix;
}

export function logPath(directory: string, generation: number): string {
  return join(directory, `${generation}.log`);
}

/** Lists what to replay; throws when a file that it needs is missing. */
export function findGenerations(directory: string): Generations {
  const snapshots = numbersOf(directory, 'snapshot');
  const snapshot = snapshots.at(-1);
  const first = snapshot ?? 0;
  const logs = numbersOf(directory, 'log').filter((generation) => generation >= first);
  const isNew = snapshot === undefined && logs.length === 0;
  const hasGap = logs.some((generation, index) => generation !== first + index);
  if (!isNew && (logs.length === 0 || hasGap)) {
    throw new Error(`The journal in ${directory} is damaged: a log between ${first}.log and the newest is missing.`);
  }
  return { snapshot, logs };
}

/** Removes what generation `current` has made superfluous, and what an interrupted compaction left. */
export function removeOlderGenerations(directory: string, current: number): void {
  for (const name of readdirSync(directory)) {
    const generation = namePattern.exec(name)?.[1];
    const isOlder = generation !== undefined && Number(generation) < current;
    if (isOlder || name.endsWith(unfinishedSuffix)) rmSync(join(directory, name), { force: true });
  }
}

/** Makes created and renamed files survive a power loss. */
export function syncDirectory(directory: string): void {
  // Windows has no such call; its file system journals names by itself.
  if (process.platform === 'win32') return;
  const fd = openSync(directory, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function numbersOf(directory: string, kind: 'snapshot' | 'log'): number[] {
  return readdirSync(directory)
    .map((name) => namePattern.exec(name))
    .filter((match) => match?.[2] === kind)
    .map((match) => Number(match?.[1]))
    .sort((a, b) => a - b);
}
