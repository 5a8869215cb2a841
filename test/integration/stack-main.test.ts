import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findFreePort } from '../../local/ports.js';
import { findProjectRoot } from '../../local/project.js';
import { readLiveStackFile } from '../../local/stack-file.js';

const main = join(import.meta.dirname, '../../dist/local/main.js');
let directory: string;
let started: ChildProcess[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'stack-main-'));
  started = [];
});
afterEach(async () => {
  for (const child of started.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)) {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  rmSync(directory, { recursive: true });
});

interface Run {
  readonly child: ChildProcess;
  /** Resolves with the first line that matches, once there is one. */
  readonly line: (pattern: RegExp) => Promise<string>;
  /** Resolves with the exit code and all output. */
  readonly ended: Promise<{ readonly code: unknown; readonly output: string }>;
}

/** `npm run local` without npm. */
function run(...args: string[]): Run {
  return runWith({}, ...args);
}

function runWith(environment: NodeJS.ProcessEnv, ...args: string[]): Run {
  const env = { ...process.env, ...environment };
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env });
  started.push(child);
  const lines: string[] = [];
  const waiting: { pattern: RegExp; resolve: (line: string) => void }[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      for (const { pattern, resolve } of waiting) if (pattern.test(line)) resolve(line);
    });
  }
  return {
    child,
    line: (pattern) => {
      const seen = lines.find((line) => pattern.test(line));
      return seen === undefined ? new Promise((resolve) => waiting.push({ pattern, resolve })) : Promise.resolve(seen);
    },
    ended: once(child, 'close').then(([code]) => ({ code: code as unknown, output: lines.join('\n') })),
  };
}

async function portOptions(): Promise<string[]> {
  const ports = await Promise.all([findFreePort(), findFreePort(), findFreePort()]);
  return ['service-bus', 'cosmos-db', 'functions-host'].map((part, index) => `--port-${part}=${String(ports[index])}`);
}

/** The stored files of a stack, without those of a lock, which come and go. */
function filesBelow(data: string): readonly string[] {
  const files = readdirSync(data, { recursive: true, encoding: 'utf8' });
  return files.filter((file) => /\.(log|snapshot)$/.test(file)).sort();
}

describe('npm run local', () => {
  it('runs until Ctrl-C, keeps its data, and refuses a second stack on the same data', async () => {
    const first = run('--data', directory, ...(await portOptions()));
    await first.line(/The local stack is ready/);
    const address = await first.line(/function app/);
    expect((await fetch(`${/http:\S+/.exec(address)?.[0] ?? ''}/admin/host/status`)).status).toBe(200);

    const second = await run('--data', directory, ...(await portOptions())).ended;
    expect(second.code).toBe(1);
    expect(second.output).toMatch(/service-bus did not start: .*in use: process \d+ holds/);

    first.child.kill('SIGINT');
    const { code, output } = await first.ended;
    expect(code).toBe(0);
    expect(output).toContain('Stopping');
    expect(existsSync(join(directory, 'service-bus'))).toBe(true);
  });

  it('starts the Functions host again after a build of the app, when it is asked to', async () => {
    const { child, line, ended } = run('--data', directory, '--watch', ...(await portOptions()));
    await line(/The local stack is ready/);
    const entry = join(findProjectRoot(), 'dist', 'app', 'main.js');
    utimesSync(entry, new Date(), new Date());
    await line(/runs the new build/);
    child.kill('SIGTERM');
    expect((await ended).code).toBe(0);
  }, 60_000);

  it('removes its data first when it is asked to, and nothing else', async () => {
    writeFileSync(join(directory, 'mine.txt'), '');
    const first = run('--data', directory, ...(await portOptions()));
    await first.line(/The local stack is ready/);
    first.child.kill('SIGTERM');
    await first.ended;
    writeFileSync(join(directory, 'cosmos-db', '7.snapshot'), 'damaged');
    const { child, line, ended } = run('--data', directory, '--reset', ...(await portOptions()));
    await line(/The local stack is ready/);
    child.kill('SIGTERM');
    expect((await ended).code).toBe(0);
    expect(existsSync(join(directory, 'mine.txt'))).toBe(true);
    expect(existsSync(join(directory, 'cosmos-db', '7.snapshot'))).toBe(false);
  });

  it('removes nothing while another stack uses the data, however the directory is named', async () => {
    const data = join(directory, 'data');
    const { child, line, ended } = run('--data', data, ...(await portOptions()));
    await line(/The local stack is ready/);
    symlinkSync(data, join(directory, 'link'), 'junction');
    const spellings = [data, `${data}${sep}`, join(directory, 'link'), relative(process.cwd(), data)];
    const before = filesBelow(data);
    for (const spelling of spellings) {
      const refused = await run('--data', spelling, '--reset', ...(await portOptions())).ended;
      expect(refused.code, spelling).toBe(1);
      expect(refused.output).toMatch(/--reset has removed nothing\. The data directory is in use: process \d+ holds/);
    }
    expect(filesBelow(data)).toEqual(before);
    child.kill('SIGTERM');
    expect((await ended).code).toBe(0);
  });

  it('removes nothing that no stack has made, and does not start there either', async () => {
    mkdirSync(join(directory, 'cosmos-db'));
    writeFileSync(join(directory, 'cosmos-db', 'index.ts'), '');
    for (const options of [['--reset'], []]) {
      const { code, output } = await run('--data', directory, ...options).ended;
      expect(code).toBe(1);
      expect(output).toContain(`${join(directory, 'cosmos-db')} was not made by the local stack: it holds index.ts`);
    }
    expect(readdirSync(join(directory, 'cosmos-db'))).toEqual(['index.ts']);
    const { code, output } = await run('--data', '', '--reset').ended;
    expect(code).toBe(2);
    expect(output).toContain('--data is empty.');
  });

  it.each(['verbatim', 'ipv6first'])('serves its app whatever localhost resolves to first: %s (C65)', async (order) => {
    const environment = { NODE_OPTIONS: `--dns-result-order=${order}` };
    const { child, line, ended } = runWith(environment, '--data', directory, ...(await portOptions()));
    await line(/The local stack is ready/);
    const address = await line(/function app/);
    expect(address).toContain('http://127.0.0.1:');
    const ready = await fetch(`${/http:\S+/.exec(address)?.[0] ?? ''}/admin/functions`);
    expect(ready.status).toBe(200);
    child.kill('SIGTERM');
    const { code, output } = await ended;
    expect(code).toBe(0);
    expect(output).not.toContain('lost its queue');
  });

  it('says which fixed port is busy (C63)', async () => {
    const server = createServer();
    const port = await findFreePort();
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    const { code, output } = await run('--data', directory, `--port-service-bus=${port}`).ended;
    server.close();
    expect(code).toBe(1);
    expect(output).toContain(`Port ${port} for service-bus is in use.`);
  });

  it('stops cleanly when its terminal closes', async () => {
    const { child, line, ended } = run('--data', directory, ...(await portOptions()));
    await line(/The local stack is ready/);
    child.kill('SIGHUP');
    const { code, output } = await ended;
    expect(code).toBe(0);
    expect(output).toContain('Stopping');
  });

  it('stops cleanly when nobody reads its output any more', async () => {
    const { child, line, ended } = run('--data', directory, ...(await portOptions()));
    await line(/Try in another terminal|Another stack runs already/);
    child.stdout?.destroy(); // As `head` does once it has read enough; the app goes on logging.
    const { code, output } = await ended;
    expect(code).toBe(0);
    expect(output).not.toContain('EPIPE');
    expect(readLiveStackFile(findProjectRoot())?.pid).not.toBe(child.pid);
    const reopened = run('--data', directory, ...(await portOptions()));
    await reopened.line(/The local stack is ready/); // No part was left behind on its data.
  });

  it.skipIf(process.platform === 'win32')(
    'ends, and says why once, when a part can store nothing any more',
    async () => {
      const { line, ended } = run('--data', directory, ...(await portOptions()));
      await line(/The local stack is ready/);
      rmSync(join(directory, 'cosmos-db'), { recursive: true }); // The starter stores something every few seconds.
      const { code, output } = await ended;
      expect(code).toBe(1);
      const cause = `The journal in ${join(directory, 'cosmos-db')} cannot be written any more: its file was removed.`;
      expect(output).toContain(`cosmos-db has given up. ${cause}`);
      expect(output.split(cause)).toHaveLength(2);
      expect(output).not.toContain('Starting it again');
    },
  );

  it('starts a part again that was killed', async () => {
    const { child, line, ended } = run('--data', directory, ...(await portOptions()));
    await line(/The local stack is ready/);
    const address = await line(/function app/);
    const host = /functions-host (\d+)/.exec(await line(/processes/))?.[1];
    process.kill(Number(host), 'SIGKILL');
    await line(/functions-host ended unexpectedly/);
    await line(/functions-host runs again/);
    expect((await fetch(`${/http:\S+/.exec(address)?.[0] ?? ''}/admin/host/status`)).status).toBe(200);
    child.kill('SIGTERM');
    expect((await ended).code).toBe(0);
  });

  it('refuses an unknown option with the usage', async () => {
    const { code, output } = await run('--hots').ended;
    expect(code).toBe(2);
    expect(output).toMatch(/^Unknown option '--hots'.*\n\nUsage: npm run local/);
  });
});
