/**
 * `.local/stack.json`: where the stack of this project listens, for the command line and other tools. It holds
 * credentials of the local stack only, which are worth nothing elsewhere.
 *
 * Invariants
 * A1 The file of a stack that runs is never overwritten or removed by another one; that of a stack that has ended is.
 * A2 The file is a convenience: a stack runs without it where it cannot be written.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { identityOf, isRunning, type ProcessIdentity } from './journal/index.js';
import type { StackAddresses } from './stack-settings.js';

/** What a stack tells of itself. */
export interface AnnouncedStack extends StackAddresses {
  /** Absent when Core Tools runs the app. */
  readonly hostKey?: string | undefined;
  readonly dataDirectory: string;
}

/** The content of the file. */
export interface StackFile extends AnnouncedStack, ProcessIdentity {}

/** What became of an announcement. */
export type Announcement =
  | { readonly kind: 'announced' }
  /** Another stack was there before; when it ends, this one takes its place. */
  | { readonly kind: 'otherRuns'; readonly other: StackFile }
  | { readonly kind: 'impossible'; readonly reason: string };

const pollMs = 1_000;

export function stackFilePath(root: string): string {
  return join(root, '.local', 'stack.json');
}

/**
 * Writes the file for the stack of this process, at once or as soon as the stack that it names has ended.
 *
 * @param tell called with each outcome, the first time before this returns
 * @returns what withdraws the announcement
 */
export function announceStack(
  root: string,
  stack: AnnouncedStack,
  tell: (announcement: Announcement) => void,
): () => void {
  const me = { ...stack, ...identityOf(process.pid) };
  let last = announce(root, me);
  tell(last);
  const timer = setInterval(() => {
    if (last.kind !== 'otherRuns') return;
    last = announce(root, me);
    if (last.kind !== 'otherRuns') tell(last);
  }, pollMs).unref();
  return () => {
    clearInterval(timer);
    if (last.kind === 'announced') withdraw(root, me);
  };
}

/**
 * The stack that runs now, if one does: a file left by a killed stack does not count (A1).
 *
 * @throws Error when the file is there and cannot be read
 */
export function readLiveStackFile(root: string): StackFile | undefined {
  const file = readStackFile(root);
  return file !== undefined && isRunning(file) ? file : undefined;
}

function announce(root: string, me: StackFile): Announcement {
  const path = stackFilePath(root);
  try {
    const other = readLiveStackFile(root);
    if (other !== undefined) return { kind: 'otherRuns', other };
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${JSON.stringify(me, null, 2)}\n`, { mode: 0o600 });
    return { kind: 'announced' };
  } catch (error) {
    return { kind: 'impossible', reason: messageOf(error) }; // A2
  }
}

function withdraw(root: string, me: StackFile): void {
  try {
    const file = readStackFile(root);
    if (file?.pid === me.pid && file.startedAt === me.startedAt) rmSync(stackFilePath(root), { force: true });
  } catch {
    // It names a process that has ended: nobody takes it for a stack that runs.
  }
}

function readStackFile(root: string): StackFile | undefined {
  const text = readIfPresent(stackFilePath(root));
  if (text === undefined) return undefined;
  try {
    const content: unknown = JSON.parse(text);
    return isStackFile(content) ? content : undefined;
  } catch {
    return undefined; // Half-written by a stack that was killed.
  }
}

function isStackFile(content: unknown): content is StackFile {
  if (typeof content !== 'object' || content === null) return false;
  const { pid, startedAt, ...others } = content as Record<keyof StackFile, unknown>;
  const isProcess = typeof pid === 'number' && (startedAt === null || typeof startedAt === 'string');
  const addresses = ['connectionString', 'cosmosEndpoint', 'cosmosKey', 'hostUrl', 'dataDirectory'] as const;
  return isProcess && addresses.every((name) => typeof others[name] === 'string');
}

function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const isAbsent = error instanceof Error && 'code' in error && ['ENOENT', 'ENOTDIR'].includes(String(error.code));
    if (isAbsent) return undefined;
    throw new Error(`${path} cannot be read (${messageOf(error)}). Does the stack belong to another user?`, {
      cause: error,
    });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
