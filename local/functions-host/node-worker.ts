/**
 * The Node worker over the life of the host: started with it, and started anew when it dies, as Azure does.
 *
 * Invariants
 * W1 When a worker dies, the host takes a moment to notice. Calls that come meanwhile fail at once, the calls that ran in
 *    the worker fail then, and later ones wait for the next worker.
 * W2 Nothing of a dead worker's memory is left to the next one.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FunctionMetadata, InvocationResponse } from './core-api.js';
import { watchLoop } from './loop-watch.js';
import type { FunctionCall } from './worker-messages.js';
import { WorkerLostError, WorkerThread, noWorker, type WorkerOptions } from './worker-thread.js';

/** How long it takes the host to notice that its worker is dead. */
const noticeMs = 10;
/** Pause before an app that did not load is loaded again. */
const nextLoadMs = 1000;

/** The worker while the host runs. */
export class NodeWorker {
  /** The functions of the app. */
  readonly functions: readonly FunctionMetadata[];
  readonly #options: WorkerOptions;
  #thread: WorkerThread | undefined;
  /** Resolves when a worker is there. */
  #replaced: Promise<void> = Promise.resolve();
  /** Whether the host has noticed that it has no worker. */
  #isReplacing = false;
  #isClosed = false;

  private constructor(options: WorkerOptions, thread: WorkerThread) {
    this.#options = options;
    this.functions = thread.functions;
    this.#use(thread);
  }

  /** Starts the first worker; rejects with what is wrong with the app. */
  static async start(options: WorkerOptions): Promise<NodeWorker> {
    return new NodeWorker(options, await WorkerThread.start(options));
  }

  /** Calls a function; rejects with FunctionError, or with WorkerLostError if the worker was or went away (W1). */
  async call(call: FunctionCall): Promise<InvocationResponse> {
    if (this.#thread === undefined) {
      if (!this.#isReplacing) throw new WorkerLostError(noWorker);
      await this.#replaced;
      return this.call(call);
    }
    return this.#thread.call(call);
  }

  /** Resolves when no replacement is under way. */
  whenReplaced(): Promise<void> {
    return this.#replaced;
  }

  /** Ends the worker as SIGKILL does; rejects as the calls that run in it do. */
  kill(): Promise<InvocationResponse> {
    return this.#thread?.kill() ?? Promise.reject(new WorkerLostError(noWorker));
  }

  /** Lets the app run its hooks for the end, and ends the worker. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#replaced;
    await this.#thread?.close();
  }

  #use(thread: WorkerThread): void {
    this.#thread = thread;
    this.#isReplacing = false;
    const watch = watchLoop(() => thread.beat, this.#options.console);
    void thread.ended.then((words) => {
      watch.close();
      this.#thread = undefined;
      if (!this.#isClosed) this.#replaced = this.#replace(thread, words);
    });
  }

  async #replace(dead: WorkerThread, words: string): Promise<void> {
    const { console, counters } = this.#options;
    counters.add('worker.exits');
    console.error(`Language Worker Process exited: ${words}.`);
    await sleep(noticeMs);
    this.#isReplacing = true;
    dead.failCalls(words); // W1
    while (!this.#isClosed) {
      try {
        this.#use(await WorkerThread.start(this.#options));
        this.#options.console.line('Worker process started and initialized.');
        return;
      } catch (error) {
        this.#options.console.error(error instanceof Error ? error.message : String(error));
        await sleep(nextLoadMs);
      }
    }
  }
}
