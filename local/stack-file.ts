/**
 * `.local/stack.json`: where a stack started by `npm run local` listens, for the command line and other tools.
 * It holds credentials of the local stack only, which are worth nothing elsewhere.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { StackAddresses } from './stack-settings.js';

/** The content of the file. */
export interface StackFile extends StackAddresses {
  /** Absent when Core Tools runs the app. */
  readonly hostKey?: string;
  readonly pid: number;
  readonly dataDirectory: string;
}

export function stackFilePath(root: string): string {
  return join(root, '.local', 'stack.json');
}

/** Writes the file, unless it belongs to another stack that runs; then returns that one's content. */
export function writeStackFile(root: string, content: StackFile): StackFile | undefined {
  const other = readLiveStackFile(root);
  if (other !== undefined && other.pid !== content.pid) return other;
  const path = stackFilePath(root);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  return undefined;
}

/** Removes the file when it belongs to the stack of this process. */
export function removeStackFile(root: string, pid: number): void {
  if (readStackFile(root)?.pid === pid) rmSync(stackFilePath(root), { force: true });
}

/** The stack that runs now, if one does: a file left by a killed stack does not count. */
export function readLiveStackFile(root: string): StackFile | undefined {
  const file = readStackFile(root);
  return file !== undefined && isAlive(file.pid) ? file : undefined;
}

function readStackFile(root: string): StackFile | undefined {
  try {
    return JSON.parse(readFileSync(stackFilePath(root), 'utf8')) as StackFile;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
