import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  readLiveStackFile,
  removeStackFile,
  stackFilePath,
  writeStackFile,
  type StackFile,
} from '../../local/stack-file.js';

const livePid = process.pid;
const otherLivePid = process.ppid;
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'stack-file-'));
});
afterEach(() => {
  rmSync(root, { recursive: true });
});

function fileOf(pid: number): StackFile {
  return {
    connectionString: 'Endpoint=sb://127.0.0.1:5672;…',
    cosmosEndpoint: 'http://127.0.0.1:8081/',
    cosmosKey: 'key',
    hostUrl: 'http://127.0.0.1:7071',
    hostKey: 'host key',
    dataDirectory: '/data',
    pid,
  };
}

describe('the stack file', () => {
  it('tells where the running stack is, to its owner alone', () => {
    expect(readLiveStackFile(root)).toBeUndefined();
    expect(writeStackFile(root, fileOf(livePid))).toBeUndefined();
    expect(readLiveStackFile(root)).toEqual(fileOf(livePid));
    if (process.platform !== 'win32') expect(statSync(stackFilePath(root)).mode & 0o777).toBe(0o600);
  });

  it('of a stack that was killed does not count, and is replaced', () => {
    writeStackFile(root, fileOf(spawnSync(process.execPath, ['--version']).pid));
    expect(readLiveStackFile(root)).toBeUndefined();
    expect(writeStackFile(root, fileOf(livePid))).toBeUndefined();
    expect(readLiveStackFile(root)?.pid).toBe(livePid);
  });

  it('of another running stack is left alone', () => {
    writeStackFile(root, fileOf(otherLivePid));
    expect(writeStackFile(root, fileOf(livePid))).toEqual(fileOf(otherLivePid));
    removeStackFile(root, livePid);
    expect(readLiveStackFile(root)?.pid).toBe(otherLivePid);
  });

  it('is removed by its own stack', () => {
    writeStackFile(root, fileOf(livePid));
    removeStackFile(root, livePid);
    expect(existsSync(stackFilePath(root))).toBe(false);
    removeStackFile(root, livePid);
  });
});
