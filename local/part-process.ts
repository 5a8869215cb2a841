/** The stack's side of one part: its child process, from start to end. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { MessageFromPart, MessageToPart, PartName, PartRequest } from './part-protocol.js';

const startLimitMs = 60_000;
const stopLimitMs = 10_000;
const keptLines = 20;

/** How a part is started. */
export interface PartLaunch {
  readonly name: PartName;
  /** The script of the process. */
  readonly entry: string;
  /** Passed to the part over IPC. */
  readonly options: unknown;
  /** The whole environment of the process. */
  readonly environment: NodeJS.ProcessEnv;
  readonly onLine: (line: string) => void;
}

/** A part did not start. */
export class PartStartError extends Error {
  /** Another port may do. */
  readonly portIsTaken: boolean;

  constructor(message: string, portIsTaken = false) {
    super(message);
    this.name = 'PartStartError';
    this.portIsTaken = portIsTaken;
  }
}

/** How a process came to its end. */
export interface PartEnd {
  readonly reason: string;
  /** It gave up: started again, it would do so again. */
  readonly isBroken: boolean;
}

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** A part that is ready. */
export class PartProcess {
  readonly info: unknown;
  /** Resolves when the process has ended, for whatever cause. */
  readonly ended: Promise<PartEnd>;
  readonly #name: PartName;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 1;
  #broken: string | undefined;

  private constructor(name: PartName, child: ChildProcess, begin: { info: unknown; ended: Promise<string> }) {
    this.#name = name;
    this.#child = child;
    this.info = begin.info;
    this.ended = begin.ended.then((reason) => ({
      reason: this.#broken ?? reason,
      isBroken: this.#broken !== undefined,
    }));
    child.on('message', (message: MessageFromPart) => {
      this.#settle(message);
    });
    void this.ended.then(({ reason }) => {
      for (const { reject } of this.#waiting.values()) reject(this.#endedError(reason));
      this.#waiting.clear();
    });
  }

  /** Starts the process and waits until the part is ready. */
  static async start(launch: PartLaunch): Promise<PartProcess> {
    const { name, entry, environment, options } = launch;
    const child = fork(entry, [name], {
      env: environment,
      // A larger young generation halves the cost of garbage collection under load.
      execArgv: ['--enable-source-maps', '--max-semi-space-size=64'],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // Ctrl-C reaches the stack alone, which then stops the parts in order. (On Windows this would open a console.)
      detached: process.platform !== 'win32',
    });
    const lastLines = followOutput(child, launch.onLine);
    const ended = once(child, 'close').then(([code, signal]) => describeEnd(code as number, signal as string | null));
    sendTo(child, { kind: 'start', options });
    try {
      const info = await untilReady({ name, child, ended, lastLines });
      return new PartProcess(name, child, { info, ended });
    } catch (error) {
      child.kill('SIGKILL');
      await ended;
      throw error;
    }
  }

  get pid(): number {
    return pidOf(this.#child);
  }

  /** Asks the running part; rejects when it refuses or ends before it answers. */
  async request(request: PartRequest): Promise<unknown> {
    const id = this.#nextId;
    this.#nextId += 1;
    const answer = new Promise<unknown>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
    });
    if (this.#child.connected) sendTo(this.#child, { kind: 'request', id, request });
    else this.#waiting.get(id)?.reject(this.#endedError((await this.ended).reason));
    return answer;
  }

  /** Ends the process like a power switch: SIGKILL. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ended;
  }

  /** Lets the part close itself; kills it when that takes too long. */
  async stop(): Promise<void> {
    const limit = setTimeout(() => this.#child.kill('SIGKILL'), stopLimitMs);
    try {
      await this.request({ verb: 'stop' });
    } catch {
      this.#child.kill('SIGTERM'); // It refused or it is gone already; either way the end is what counts.
    }
    await this.ended;
    clearTimeout(limit);
  }

  #settle(message: MessageFromPart): void {
    if (message.kind === 'broken') this.#broken = message.message;
    if (message.kind !== 'answer' && message.kind !== 'refusal') return;
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.kind === 'answer') waiting?.resolve(message.value);
    else waiting?.reject(new Error(`${this.#name} refused: ${message.message}`));
  }

  #endedError(reason: string): Error {
    return new Error(`${this.#name} has ended (${reason}).`);
  }
}

interface Starting {
  readonly name: PartName;
  readonly child: ChildProcess;
  readonly ended: Promise<string>;
  readonly lastLines: readonly string[];
}

async function untilReady({ name, child, ended, lastLines }: Starting): Promise<unknown> {
  let limit: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_resolve, reject) => {
    limit = setTimeout(() => {
      reject(new PartStartError(`${name} was not ready within ${startLimitMs / 1000} s.\n${lastLines.join('\n')}`));
    }, startLimitMs);
  });
  const died = ended.then((reason) => {
    throw new PartStartError(`${name} ended while it started (${reason}).\n${lastLines.join('\n')}`);
  });
  try {
    return await Promise.race([firstMessage(name, child), died, tooLate]);
  } finally {
    clearTimeout(limit);
    died.catch(() => undefined); // Its later end is no failure of the start.
  }
}

async function firstMessage(name: PartName, child: ChildProcess): Promise<unknown> {
  const [message] = (await once(child, 'message')) as [MessageFromPart];
  if (message.kind === 'ready') return message.info;
  if (message.kind === 'failed') {
    throw new PartStartError(`${name} did not start: ${message.message}`, message.portIsTaken);
  }
  if (message.kind === 'broken') throw new PartStartError(`${name} did not start: ${message.message}`);
  throw new PartStartError(`${name} sent '${message.kind}' before it was ready.`);
}

/** Passes each line of output on, and keeps the last ones for the message of a failed start. */
function followOutput(child: ChildProcess, onLine: (line: string) => void): readonly string[] {
  const lastLines: string[] = [];
  const follow = (stream: Readable | null): void => {
    if (stream === null) return;
    createInterface({ input: stream }).on('line', (line) => {
      lastLines.push(line);
      if (lastLines.length > keptLines) lastLines.shift();
      onLine(line);
    });
  };
  follow(child.stdout);
  follow(child.stderr);
  return lastLines;
}

function sendTo(child: ChildProcess, message: MessageToPart): void {
  // A channel that breaks meanwhile shows as the end of the process.
  child.send(message, () => undefined);
}

function describeEnd(code: number | null, signal: string | null): string {
  return signal === null ? `exit code ${code ?? 'unknown'}` : `signal ${signal}`;
}

function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error('The process was never started.');
  return child.pid;
}
