/** Functions hosts in processes of their own, for tests: each process can have one only, and some are killed. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll } from 'vitest';
import type { FaultPlan } from '../../local/faults/index.js';
import type { FunctionsHostOptions } from '../../local/functions-host/index.js';
import type { HostCommand, HostReport } from './functions-host-child.js';

/** A host of a test. */
export interface HostProcess {
  readonly url: string;
  readonly pid: number;
  readonly keys: { readonly master: string; readonly function: string };
  /** Console lines so far, without their time. */
  readonly lines: readonly string[];
  counters(): Promise<Record<string, number>>;
  setFaults(plan?: FaultPlan): Promise<void>;
  /** Resolves when the console has this many lines, or the process is gone. */
  linesReach(count: number): Promise<void>;
  /** Resolves with the first console line that fits, now or later. */
  line(pattern: RegExp): Promise<string>;
  request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<HostAnswer>;
  /** Starts an orchestration through the client API; resolves to its id. */
  start(name: string, instanceId: string, input?: unknown, query?: string): Promise<HostAnswer>;
  raiseEvent(instanceId: string, name: string, data: unknown): Promise<HostAnswer>;
  /** The status once the orchestration is finished, or once `until` accepts it. */
  status(instanceId: string, until?: (status: InstanceStatus) => boolean): Promise<InstanceStatus>;
  /** Resolves when the process is gone. */
  readonly exited: Promise<void>;
  close(): Promise<void>;
  /** Ends the process with SIGKILL. */
  kill(): Promise<void>;
}

export interface HostAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON. */
  readonly body: unknown;
}

export interface InstanceStatus {
  readonly name: string;
  readonly runtimeStatus: string;
  readonly input: unknown;
  readonly output: unknown;
  readonly customStatus: unknown;
  readonly historyEvents?: readonly ShownEvent[];
}

export interface ShownEvent {
  readonly EventType: string;
  readonly Name?: string;
  readonly TaskScheduledId?: number;
  readonly TimerId?: number;
}

const fixtures = join(import.meta.dirname, '..', 'fixtures', 'functions-host');

type StartedReport = Extract<HostReport, { readonly kind: 'started' }>;

const pollMs = 5;
const program = join(import.meta.dirname, 'functions-host-child.ts');
const execArgv = ['--no-warnings', '--import', join(import.meta.dirname, 'register-typescript.ts')];

const undo: (() => Promise<void> | void)[] = [];

afterAll(async () => {
  for (const action of undo.splice(0).reverse()) await action();
});

/** Registers what must be closed or removed after the file's tests. */
export function cleanUp(action: () => Promise<void> | void): void {
  undo.push(action);
}

/** A directory that is removed after the file's tests. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'functions-host-'));
  cleanUp(() => {
    rmSync(directory, { recursive: true, force: true });
  });
  return directory;
}

/** Writes an app of these files; it finds the project's packages. */
export function writeApp(files: Readonly<Record<string, string | object>>): string {
  const directory = temporaryDirectory();
  symlinkSync(join(import.meta.dirname, '..', '..', 'node_modules'), join(directory, 'node_modules'));
  for (const [name, content] of Object.entries(files)) {
    const file = join(directory, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  }
  return directory;
}

/** Starts a host that ends with the file's tests; rejects with the host's own message when it refuses. */
export async function startHostProcess(app: string, options: Partial<FunctionsHostOptions> = {}): Promise<HostProcess> {
  const all: FunctionsHostOptions = {
    appDirectory: resolve(fixtures, app),
    dataDirectory: options.dataDirectory ?? temporaryDirectory(),
    fsync: 'never',
    settings: {},
    ...options,
  };
  const child = fork(program, [JSON.stringify(all)], { execArgv, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  child.stderr?.resume();
  const exited = once(child, 'exit').then(() => undefined);
  const lines: string[] = [];
  const answers: ((value: unknown) => void)[] = [];
  const started = new Promise<StartedReport>((resolve, reject) => {
    child.on('message', (report: HostReport) => {
      if (report.kind === 'log') lines.push(report.line.replace(/^\[[^\]]+\] /, ''));
      else if (report.kind === 'started') resolve(report);
      else if (report.kind === 'refused') reject(new Error(report.message));
      else answers.shift()?.(report.value);
    });
    child.on('exit', () => {
      reject(new Error('The host process ended before it was ready.'));
    });
  });
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  cleanUp(kill);
  const ask = (command: HostCommand): Promise<unknown> =>
    new Promise((resolve) => {
      answers.push(resolve);
      child.send(command);
    });
  const { url, keys } = await started;
  return {
    ...{ url, pid: child.pid ?? 0, keys, lines, kill, exited },
    ...hostCalls(url),
    counters: async () => (await ask({ kind: 'counters' })) as Record<string, number>,
    setFaults: async (plan) => {
      await ask({ kind: 'setFaults', plan });
    },
    async line(pattern) {
      for (;;) {
        const found = lines.find((line) => pattern.test(line));
        if (found !== undefined) return found;
        await sleep(pollMs);
      }
    },
    async linesReach(count) {
      while (lines.length < count && child.exitCode === null) await sleep(1);
    },
    async close() {
      await ask({ kind: 'close' });
      await exited;
    },
  };
}

type HostCalls = Pick<HostProcess, 'request' | 'start' | 'raiseEvent' | 'status'>;

function hostCalls(url: string): HostCalls {
  const request: HostCalls['request'] = async (method, path, body, headers = {}) => {
    const response = await fetch(`${url}/${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: jsonOrText(text) };
  };
  return {
    request,
    start: (name, instanceId, input = {}, query = '') =>
      request('POST', `durabletask/orchestrators/${name}/${instanceId}${query}`, input),
    raiseEvent: (instanceId, name, data) =>
      request('POST', `durabletask/instances/${instanceId}/raiseEvent/${name}`, JSON.stringify(data)),
    async status(instanceId, until = isFinished) {
      for (;;) {
        const { body } = await request('GET', `durabletask/instances/${instanceId}?showHistory=true`);
        if (until(body as InstanceStatus)) return body as InstanceStatus;
        await sleep(pollMs);
      }
    },
  };
}

function isFinished({ runtimeStatus }: InstanceStatus): boolean {
  return ['Completed', 'Failed', 'Terminated'].includes(runtimeStatus);
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
