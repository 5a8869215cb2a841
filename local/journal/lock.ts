/**
 * One process at a time works in a directory. The lock file names its owner; the lock of a dead process is taken over, so
 * that a part which was killed starts again without help.
 *
 * Invariants
 * L1 A lock is removed only by who took it, or after its owner has ended: a release leaves a lock alone that somebody else
 *    has put there meanwhile.
 * L2 A directory is one directory, however its path is spelled.
 */
import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { identityOf, isRunning, type ProcessIdentity } from './process-identity.js';

const lockName = 'lock';

interface Owner extends ProcessIdentity {
  /** Tells this lock from a later one of the same process. */
  readonly token: string;
}

/** Directories locked by this process: where no start time is known, a lock with our own pid may be a predecessor's. */
const heldHere = new Set<string>();

/**
 * Locks the directory; returns the release.
 *
 * @param pid the process that works in it
 * @throws Error that names the process in the way
 */
export function lockDirectory(directory: string, pid = process.pid): () => void {
  const real = realpathSync(directory); // L2
  const path = join(real, lockName);
  const candidate = join(real, `${lockName}.${process.pid}`);
  const owner: Owner = { ...identityOf(pid), token: randomUUID() };
  // Linked into place, because a file that is written in place can be read half-written.
  writeFileSync(candidate, JSON.stringify(owner));
  try {
    takeLock(path, candidate);
  } finally {
    rmSync(candidate, { force: true });
  }
  heldHere.add(path);
  return () => {
    heldHere.delete(path);
    if (readOwner(path)?.token === owner.token) rmSync(path, { force: true }); // L1
  };
}

/** Whether a file in a locked directory belongs to the lock. */
export function isLockFile(name: string): boolean {
  return name === lockName || name.startsWith(`${lockName}.`);
}

function takeLock(path: string, candidate: string): void {
  if (linkIfAbsent(candidate, path)) return;
  refuseIfAlive(path, readOwner(path));
  moveStaleLockAway(path, `${candidate}.stale`);
  if (!linkIfAbsent(candidate, path)) throw inUse(path, readOwner(path));
}

/** Only one process can move a file away. Whoever comes too late moves a live lock, and puts it back. */
function moveStaleLockAway(path: string, stale: string): void {
  try {
    renameSync(path, stale);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return;
    throw error;
  }
  try {
    const owner = readOwner(stale);
    if (isAlive(path, owner)) linkIfAbsent(stale, path);
    refuseIfAlive(path, owner);
  } finally {
    rmSync(stale, { force: true });
  }
}

function refuseIfAlive(path: string, owner: ProcessIdentity | undefined): void {
  if (isAlive(path, owner)) throw inUse(path, owner);
}

function inUse(path: string, owner: ProcessIdentity | undefined): Error {
  const holder = owner === undefined ? 'another process' : `process ${owner.pid}`;
  return new Error(
    `The data directory is in use: ${holder} holds ${path}. Stop that process, or use another data directory.`,
  );
}

function isAlive(path: string, owner: ProcessIdentity | undefined): boolean {
  if (owner === undefined || !isRunning(owner)) return false;
  return owner.startedAt !== null || owner.pid !== process.pid || heldHere.has(path);
}

function readOwner(path: string): (Partial<Owner> & ProcessIdentity) | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return isOwner(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isOwner(value: unknown): value is ProcessIdentity {
  return typeof value === 'object' && value !== null && 'pid' in value && typeof value.pid === 'number';
}

function linkIfAbsent(existing: string, path: string): boolean {
  try {
    linkSync(existing, path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

function errorCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
