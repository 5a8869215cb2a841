/**
 * One process at a time works in a journal's directory. The lock file names its owner; the lock of a dead process is
 * taken over, so that a part which was killed starts again without help.
 */
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Owner {
  readonly pid: number;
  /** Tells a process from a later one with the same pid; null where the system does not say. */
  readonly startedAt: string | null;
}

/** Directories locked by this process: without `startedAt` a lock with our own pid may be a predecessor's. */
const heldHere = new Set<string>();

/** Locks the directory or throws an error that names the process in the way; returns the release. */
export function lockDirectory(directory: string): () => void {
  const path = join(directory, 'lock');
  const candidate = join(directory, `lock.${process.pid}`);
  const me: Owner = { pid: process.pid, startedAt: startTimeOf(process.pid) };
  // Linked into place, because a file that is written in place can be read half-written.
  writeFileSync(candidate, JSON.stringify(me));
  try {
    takeLock(path, candidate);
  } finally {
    rmSync(candidate, { force: true });
  }
  heldHere.add(path);
  return () => {
    heldHere.delete(path);
    rmSync(path, { force: true });
  };
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

function refuseIfAlive(path: string, owner: Owner | undefined): void {
  if (isAlive(path, owner)) throw inUse(path, owner);
}

function inUse(path: string, owner: Owner | undefined): Error {
  const holder = owner === undefined ? 'another process' : `process ${owner.pid}`;
  return new Error(`The journal is in use: ${holder} holds ${path}. Stop that process, or use another data directory.`);
}

function isAlive(path: string, owner: Owner | undefined): boolean {
  if (owner === undefined || !processExists(owner.pid)) return false;
  if (owner.startedAt !== null) return owner.startedAt === startTimeOf(owner.pid);
  return owner.pid !== process.pid || heldHere.has(path);
}

function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

/** Linux tells when a process started (field 22 of its stat line, behind the parenthesised name). */
function startTimeOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}

function readOwner(path: string): Owner | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return isOwner(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isOwner(value: unknown): value is Owner {
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
