import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, it } from 'vitest';
import { ManagedPart, type PartSetup } from '../../local/managed-part.js';
import type { PartEnd } from '../../local/part-process.js';
import { findFreePort, isPortFree } from '../../local/ports.js';

const support = join(import.meta.dirname, '../support');
const entry = join(support, 'fake-part.ts');
const loadTypeScript = ['--no-warnings', '--import', join(support, 'register-typescript.ts')];
const environment = { PATH: process.env['PATH'], NODE_OPTIONS: loadTypeScript.join(' ') };
const started: ManagedPart<'service-bus'>[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map((part) => part.stop()));
});

interface Observed {
  readonly part: ManagedPart<'service-bus'>;
  readonly lines: string[];
  readonly unexpectedEnd: Promise<PartEnd>;
}

function createPart(own: object = {}, setup: Partial<PartSetup<'service-bus'>> = {}): Observed {
  const lines: string[] = [];
  const ends: { report?: (end: PartEnd) => void } = {};
  const unexpectedEnd = new Promise<PartEnd>((resolve) => {
    ends.report = resolve;
  });
  const part = new ManagedPart({
    name: 'service-bus',
    entry,
    environment,
    port: undefined,
    faults: undefined,
    options: () => own,
    onLine: (line) => lines.push(line),
    onUnexpectedEnd: (end) => ends.report?.(end),
    ...setup,
  });
  started.push(part);
  return { part, lines, unexpectedEnd };
}

describe('a part of the stack', () => {
  it('is ready with its information after the start, with nothing of our environment but what is passed', async () => {
    process.env['SECRET'] = 'of the shell';
    const { part, lines } = createPart({ colour: 'blue' });
    await part.start();
    delete process.env['SECRET'];
    const { port } = part.info;
    expect(part.info).toEqual({ port, name: 'service-bus' });
    expect(await isPortFree(port)).toBe(false);
    expect(part.pid).not.toBe(process.pid);
    expect(lines).toContain(`started with ${JSON.stringify({ colour: 'blue', port })}`);
  });

  it('has its faults replaced while it runs, and keeps them over a restart', async () => {
    const plan = (operation: string) => ({ seed: 1, rules: [{ operation, action: 'drop' as const }] });
    const { part } = createPart({}, { faults: plan('send') });
    await part.start();
    expect(await part.counters()).toEqual({ 'faults/send/*/drop': 0 });
    await part.setFaults(plan('lock'));
    expect(await part.counters()).toEqual({ 'faults/send/*/drop': 0, 'faults/lock/*/drop': 0 });
    await part.restart();
    expect(await part.counters()).toEqual({ 'faults/lock/*/drop': 0 });
    await part.kill();
    await part.setFaults(undefined);
    await part.start();
    expect(await part.counters()).toEqual({});
  });

  it('refuses a fault plan that is wrong, and says what is', async () => {
    const { part } = createPart();
    await part.start();
    const wrong = { seed: 1, rules: [{ operation: 'send', action: 'explode' as 'drop' }] };
    await expect(part.setFaults(wrong)).rejects.toThrow(
      'service-bus refused: The fault plan is wrong: rules[0].action',
    );
  });

  it('comes back on its port after a kill, which is no unexpected end', async () => {
    const { part, lines } = createPart();
    await part.start();
    const { info, pid } = part;
    await part.kill();
    expect(await isPortFree(info.port)).toBe(true);
    await expect(part.counters()).rejects.toThrow('service-bus is not running');
    await part.restart();
    expect(part.info).toEqual(info);
    expect(part.pid).not.toBe(pid);
    expect(lines).not.toContain('closing');
  });

  it('closes itself when it is stopped', async () => {
    const { part, lines } = createPart();
    await part.start();
    await part.stop();
    expect(lines.filter((line) => line === 'closing')).toHaveLength(1);
    await part.stop();
  });

  it('ends also when its closing fails', async () => {
    const { part, lines } = createPart({ onClose: 'throw' });
    await part.start();
    await part.stop();
    expect(lines).toContain('The part did not close cleanly: Error: close failed');
  });

  it('ends when it cannot go on, and says why', async () => {
    const { part, unexpectedEnd } = createPart({ givesUp: true });
    await part.start();
    await part.counters().catch(() => undefined);
    expect(await unexpectedEnd).toEqual({ reason: 'The disk is full.', isBroken: true });
  });

  it('reports an end that nobody asked for', async () => {
    const { part, unexpectedEnd } = createPart();
    await part.start();
    const unanswered = part.counters();
    process.kill(part.pid, 'SIGKILL');
    expect(await unexpectedEnd).toEqual({ reason: 'signal SIGKILL', isBroken: false });
    await unanswered.catch(() => undefined);
    await expect(part.counters()).rejects.toThrow('service-bus is not running');
  });

  it('fails to start with the reason that it gives', async () => {
    const { part } = createPart({ onStart: 'throw' });
    await expect(part.start()).rejects.toThrow('service-bus did not start: bad data');
  });

  it('fails to start with its last output when it dies', async () => {
    const { part } = createPart({ onStart: 'exit' });
    await expect(part.start()).rejects.toThrow(/ended while it started \(exit code 7\)\.\nstarted with \{/);
  });

  it('fails to start with a clear message when its fixed port is busy (C63)', async () => {
    const server = createServer();
    const port = await findFreePort();
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    const { part } = createPart({}, { port });
    await expect(part.start()).rejects.toThrow(`Port ${port} for service-bus is in use.`);
    server.close();
    await once(server, 'close');
    await part.start();
    expect(part.info.port).toBe(port);
  });

  it('is not started twice', async () => {
    const { part } = createPart();
    await part.start();
    await expect(part.start()).rejects.toThrow('service-bus is running already');
  });
});

describe('a process of a part', () => {
  it('closes itself when its stack is killed', async () => {
    const port = await findFreePort();
    const stack = fork(join(support, 'fake-stack.ts'), [entry, String(port)], {
      env: environment,
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    const output = createInterface({ input: stack.stdout ?? process.stdin });
    for await (const line of output) if (line === 'ready') break;
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    const closed = new Promise((resolve) => {
      socket.on('close', resolve).on('error', () => undefined); // A reset closes it too.
    });
    stack.kill('SIGKILL');
    await closed;
    expect(await isPortFree(port)).toBe(true);
  });

  it('runs without a stack, with options from its command line, until a signal', async () => {
    const port = await findFreePort();
    const child = spawn(process.execPath, [...loadTypeScript, entry, 'service-bus', JSON.stringify({ port })], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(line);
      if (line.startsWith('{')) child.kill('SIGTERM');
    }
    expect(lines.slice(1)).toEqual([JSON.stringify({ port, name: 'service-bus' }), 'closing']);
  });
});
