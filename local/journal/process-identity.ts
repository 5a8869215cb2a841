/** Which process is meant: a pid alone may have been given to a later process. */
import { readFileSync } from 'node:fs';

/** A process, as another process can recognise it. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Differs for a later process with the same pid; null where the system does not tell. */
  readonly startedAt: string | null;
}

/** The identity of a process that runs. */
export function identityOf(pid: number): ProcessIdentity {
  return { pid, startedAt: startTimeOf(pid) };
}

/** Whether the process still runs. Where the system does not tell when it started, a later one with its pid counts too. */
export function isRunning({ pid, startedAt }: ProcessIdentity): boolean {
  return processExists(pid) && (startedAt === null || startedAt === startTimeOf(pid));
}

function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
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
