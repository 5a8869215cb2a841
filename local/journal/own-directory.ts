/**
 * Directories of this stack, and the proof that they are: a mark, made when a directory was new or empty.
 *
 * Invariants
 * O1 Nothing is written into, and nothing is removed from, a directory that holds files and no mark.
 * O2 Nothing is removed from a directory in which a process works.
 * O3 Of several directories either all are emptied or none.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isLockFile, lockDirectory } from './lock.js';

/** The file that marks a directory. */
export const markName = '.local-stack';

const markText = 'This directory was made by the local stack, which may remove everything in it.\n';

/**
 * Makes the directory if it is missing, and marks it if it is empty.
 *
 * @throws Error when it holds files and has no mark (O1)
 */
export function ownDirectory(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 }); // What it holds is its owner's alone.
  const names = readdirSync(directory);
  if (names.includes(markName)) return;
  const foreign = names.find((name) => !isLockFile(name));
  if (foreign !== undefined) {
    throw new Error(
      `${directory} was not made by the local stack: it holds ${foreign} and no file ${markName}. ` +
        'Use another data directory, or move its files away.',
    );
  }
  writeFileSync(join(directory, markName), markText);
}

/**
 * Removes everything from those of the directories that exist; they stay, empty but for their mark.
 *
 * @throws Error when one of them is not ours or in use; then nothing was removed (O1, O2, O3)
 */
export function emptyDirectories(directories: readonly string[]): void {
  const releases: (() => void)[] = [];
  try {
    const present = directories.filter((directory) => existsSync(directory));
    for (const directory of present) {
      ownDirectory(directory);
      releases.push(lockDirectory(directory));
    }
    for (const directory of present) removeContent(directory);
  } finally {
    for (const release of releases) release();
  }
}

function removeContent(directory: string): void {
  const names = readdirSync(directory).filter((name) => name !== markName && !isLockFile(name));
  for (const name of names) rmSync(join(directory, name), { recursive: true, force: true });
}
