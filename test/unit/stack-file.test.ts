import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { identityOf } from '../../local/journal/index.js';
import { announceStack, readLiveStackFile, stackFilePath } from '../../local/stack-file.js';
import type { AnnouncedStack, Announcement } from '../../local/stack-file.js';

const stack: AnnouncedStack = {
  connectionString: 'Endpoint=sb://127.0.0.1:5672;…',
  cosmosEndpoint: 'http://127.0.0.1:8081/',
  cosmosKey: 'key',
  hostUrl: 'http://127.0.0.1:7071',
  hostKey: 'host key',
  dataDirectory: '/data',
};
const announced: Announcement = { kind: 'announced' };
let root: string;
let withdrawals: (() => void)[];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'stack-file-'));
  withdrawals = [];
});
afterEach(() => {
  for (const withdraw of withdrawals) withdraw();
  vi.useRealTimers();
  rmSync(root, { recursive: true });
});

/** Announces a stack of this process; returns what it was told, and the withdrawal. */
function announce() {
  const told: Announcement[] = [];
  const withdraw = announceStack(root, stack, (announcement) => told.push(announcement));
  withdrawals.push(withdraw);
  return { told, withdraw };
}

/** Leaves the file of another process. */
function leaveFile(content: object): void {
  mkdirSync(dirname(stackFilePath(root)), { recursive: true });
  writeFileSync(stackFilePath(root), JSON.stringify(content));
}

async function otherProcess() {
  const child = spawn(process.execPath, ['--eval', 'setInterval(() => undefined, 1000)'], { stdio: 'ignore' });
  await once(child, 'spawn');
  const identity = identityOf(child.pid ?? 0);
  const end = async (): Promise<void> => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return { file: { ...stack, hostUrl: 'http://127.0.0.1:7072', ...identity }, end };
}

describe('the stack file', () => {
  it('tells where the running stack is, to its owner alone', () => {
    expect(readLiveStackFile(root)).toBeUndefined();
    expect(announce().told).toEqual([announced]);
    expect(readLiveStackFile(root)).toEqual({ ...stack, ...identityOf(process.pid) });
    if (process.platform !== 'win32') expect(statSync(stackFilePath(root)).mode & 0o777).toBe(0o600);
  });

  it('of a stack that was killed does not count, and is replaced (A1)', async () => {
    const { file, end } = await otherProcess();
    await end();
    leaveFile(file);
    expect(readLiveStackFile(root)).toBeUndefined();
    expect(announce().told).toEqual([announced]);
    expect(readLiveStackFile(root)?.pid).toBe(process.pid);
  });

  // Linux tells when a process started.
  it.skipIf(!existsSync('/proc/self/stat'))('does not count when its pid belongs to a later process now (A1)', () => {
    leaveFile({ ...stack, pid: process.ppid, startedAt: '1' });
    expect(readLiveStackFile(root)).toBeUndefined();
    expect(announce().told).toEqual([announced]);
  });

  it.each(['', '{', '[]', '{"pid":1}'])('that holds %j names no stack', (content) => {
    mkdirSync(dirname(stackFilePath(root)));
    writeFileSync(stackFilePath(root), content);
    expect(readLiveStackFile(root)).toBeUndefined();
  });

  it('of another running stack is left alone until that has ended, then taken over (A1)', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { file, end } = await otherProcess();
    leaveFile(file);
    const { told, withdraw } = announce();
    vi.advanceTimersByTime(10_000);
    expect(told).toEqual([{ kind: 'otherRuns', other: file }]);
    expect(readLiveStackFile(root)).toEqual(file);
    await end();
    vi.advanceTimersByTime(1_000);
    expect(told.slice(1)).toEqual([announced]);
    expect(readLiveStackFile(root)?.pid).toBe(process.pid);
    withdraw();
    expect(existsSync(stackFilePath(root))).toBe(false);
  });

  it('of another running stack outlives the end of one that came later (A1)', async () => {
    const { file, end } = await otherProcess();
    leaveFile(file);
    announce().withdraw();
    expect(readLiveStackFile(root)).toEqual(file);
    await end();
  });

  it('is removed by its own stack, once', () => {
    const { withdraw } = announce();
    withdraw();
    expect(existsSync(stackFilePath(root))).toBe(false);
    withdraw();
  });

  it('that cannot be written keeps no stack from running (A2)', () => {
    writeFileSync(join(root, '.local'), 'a file where the folder should be');
    const { told, withdraw } = announce();
    expect(told).toEqual([{ kind: 'impossible', reason: expect.stringMatching(/EEXIST|ENOTDIR/) as string }]);
    withdraw();
  });

  // The superuser may read everything.
  it.skipIf(process.platform === 'win32' || process.getuid?.() === 0)('that cannot be read is no absent one', () => {
    announce();
    chmodSync(stackFilePath(root), 0);
    expect(() => readLiveStackFile(root)).toThrow(/cannot be read .*EACCES.*another user/);
  });

  it('that is no file is no absent one', () => {
    mkdirSync(stackFilePath(root), { recursive: true });
    expect(() => readLiveStackFile(root)).toThrow(/stack\.json cannot be read/);
  });
});
