/** One Node worker from its start to its end: a thread with the app in it, and the calls that run there. */
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Console } from './console.js';
import type { FunctionMetadata, InvocationResponse } from './core-api.js';
import type { Counters } from './counters.js';
import type { Variables } from './settings.js';
import type { FunctionCall, MessageFromWorker, MessageToWorker, ThrownError, WorkerData } from './worker-messages.js';

/** What a worker needs. */
export interface WorkerOptions {
  readonly appDirectory: string;
  /** Environment of the app. */
  readonly variables: Variables;
  readonly console: Console;
  readonly counters: Counters;
}

/** What a function of the app threw. */
export class FunctionError extends Error {
  /** False if the function threw something that is not an Error. */
  readonly isError: boolean;

  constructor({ isError, name, message, stack }: ThrownError) {
    super(message);
    this.isError = isError;
    this.name = name;
    this.stack = stack;
  }
}

/** The call could not run, or not to its end, because the worker was gone. */
export class WorkerLostError extends Error {
  override readonly name = 'WorkerLostError';
}

interface WaitingCall {
  readonly resolve: (response: InvocationResponse) => void;
  readonly reject: (error: Error) => void;
}

/** What the host says when it has a call and no worker. */
export const noWorker = 'Did not find any initialized language workers';

/** Exit code of a process that SIGKILL ended. */
const killedCode = 137;
// The sources run as TypeScript in tests, so the thread's entry has the extension of this file.
const entry = new URL(`./worker/main${extname(import.meta.filename)}`, import.meta.url);

/** A worker that has loaded the app. */
export class WorkerThread {
  /** Resolves when the thread has ended, to the words for it. */
  readonly ended: Promise<string>;
  readonly #worker: Worker;
  readonly #options: WorkerOptions;
  readonly #beats = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #waiting = new Map<number, WaitingCall>();
  #functions: readonly FunctionMetadata[] = [];
  #nextId = 1;
  #isKilled = false;
  #isOver = false;

  private constructor(options: WorkerOptions) {
    const workerData: WorkerData = { appDirectory: options.appDirectory, beats: this.#beats.buffer };
    this.#options = options;
    this.#worker = new Worker(entry, { workerData, env: { ...options.variables } });
    this.ended = new Promise((resolve) => {
      this.#worker.once('exit', (code) => {
        resolve(this.#end(code));
      });
    });
    this.#worker.on('message', (message: MessageFromWorker) => {
      this.#take(message);
    });
    this.#worker.on('error', (error) => {
      options.console.error(error instanceof Error ? (error.stack ?? error.message) : String(error));
    });
  }

  /** Starts a thread and loads the app in it; rejects with what is wrong with the app. */
  static async start(options: WorkerOptions): Promise<WorkerThread> {
    const thread = new WorkerThread(options);
    await thread.#load();
    return thread;
  }

  /** The functions of the app. */
  get functions(): readonly FunctionMetadata[] {
    return this.#functions;
  }

  /** A number that grows while the app's event loop runs. */
  get beat(): number {
    return Atomics.load(this.#beats, 0);
  }

  /** Calls a function; rejects with FunctionError, or with WorkerLostError if the thread has ended or ends meanwhile. */
  call(call: FunctionCall): Promise<InvocationResponse> {
    return this.#answer((id) => {
      this.#send({ kind: 'call', id, call });
    });
  }

  /** Rejects the calls that ran in the thread when it ended. */
  failCalls(words: string): void {
    for (const { reject } of this.#waiting.values()) reject(new WorkerLostError(words));
    this.#waiting.clear();
  }

  /** Ends the thread at once, as SIGKILL ends the process of a worker; rejects as a call that runs there does. */
  kill(): Promise<InvocationResponse> {
    this.#isKilled = true;
    return this.#answer(() => void this.#worker.terminate());
  }

  /** Lets the app run its hooks for the end, and ends the thread. */
  async close(): Promise<void> {
    this.#send({ kind: 'terminate' });
    await this.ended;
  }

  async #load(): Promise<void> {
    const loaded = new Promise<readonly FunctionMetadata[]>((resolve, reject) => {
      this.#worker.on('message', (message: MessageFromWorker) => {
        if (message.kind === 'loaded') resolve(message.functions);
        if (message.kind === 'refused') reject(new Error(message.message));
      });
    });
    const ended = this.ended.then((words) => {
      throw new Error(`The app does not load: ${words}.`);
    });
    ended.catch(() => undefined); // Its later end does not belong to the start.
    try {
      this.#functions = await Promise.race([loaded, ended]);
    } catch (error) {
      await this.#worker.terminate();
      throw error;
    }
  }

  #answer(ask: (id: number) => void): Promise<InvocationResponse> {
    if (this.#isOver) return Promise.reject(new WorkerLostError(noWorker));
    const id = this.#nextId;
    this.#nextId += 1;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      ask(id);
    });
  }

  #send(message: MessageToWorker): void {
    this.#worker.postMessage(message);
  }

  #take(message: MessageFromWorker): void {
    const { console, counters } = this.#options;
    switch (message.kind) {
      case 'returned':
        this.#answered(message.id)?.resolve(message.response);
        return;
      case 'threw':
        this.#answered(message.id)?.reject(new FunctionError(message.error));
        return;
      case 'log':
        console.functionLog(message.level, message.message, message.functionName);
        return;
      case 'violation':
        counters.add('determinism.violations');
        if (message.text !== undefined) console.error(message.text);
        return;
      case 'loaded':
      case 'refused':
    }
  }

  #answered(id: number): WaitingCall | undefined {
    const call = this.#waiting.get(id);
    this.#waiting.delete(id);
    return call;
  }

  #end(code: number): string {
    this.#isOver = true;
    const shown = this.#isKilled ? killedCode : code;
    return `node exited with code ${shown} (0x${shown.toString(16).toUpperCase()})`;
  }
}
