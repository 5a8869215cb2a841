/** One part of the stack over its whole life: started, killed, restarted on the same port with the same data. */
import type { FaultPlan } from './faults/index.js';
import type { Counters, PartInfos, PartName } from './part-protocol.js';
import { PartProcess, PartStartError, type PartEnd } from './part-process.js';
import { findFreePort, isPortFree } from './ports.js';

const portAttempts = 3;

/** What a part is made of. */
export interface PartSetup<Name extends PartName> {
  readonly name: Name;
  readonly entry: string;
  readonly environment: NodeJS.ProcessEnv;
  /** Fixes the port; without it a free one is chosen at the first start and kept. */
  readonly port: number | undefined;
  readonly faults: FaultPlan | undefined;
  /** The library's options but port and faults; a function, because some depend on the port. */
  readonly options: (port: number) => object;
  readonly onLine: (line: string) => void;
  /** Called when the process ends although nobody ended it. */
  readonly onUnexpectedEnd: (end: PartEnd) => void;
}

export class ManagedPart<Name extends PartName> {
  readonly #setup: PartSetup<Name>;
  #port: number | undefined;
  #faults: FaultPlan | undefined;
  #process: PartProcess | undefined;
  #info: PartInfos[Name] | undefined;

  constructor(setup: PartSetup<Name>) {
    this.#setup = setup;
    this.#port = setup.port;
    this.#faults = setup.faults;
  }

  /** What the part told at its start; it stays true while the part is down. */
  get info(): PartInfos[Name] {
    if (this.#info === undefined) throw new Error(`${this.#setup.name} was never started.`);
    return this.#info;
  }

  get pid(): number {
    return this.#running().pid;
  }

  async start(): Promise<void> {
    if (this.#process !== undefined) throw new Error(`${this.#setup.name} is running already.`);
    const started = await this.#startOnPort();
    this.#process = started;
    this.#info = started.info as PartInfos[Name];
    void started.ended.then((end) => {
      if (this.#process !== started) return;
      this.#process = undefined;
      this.#setup.onUnexpectedEnd(end);
    });
  }

  async kill(): Promise<void> {
    await this.#release().kill();
  }

  /** Stops the part when it runs, and starts it again. */
  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  async stop(): Promise<void> {
    if (this.#process !== undefined) await this.#release().stop();
  }

  async counters(): Promise<Counters> {
    return (await this.#running().request({ verb: 'counters' })) as Counters;
  }

  /** Replaces the fault plan, now when the part runs, and for its next start. */
  async setFaults(plan: FaultPlan | undefined): Promise<void> {
    await this.#process?.request({ verb: 'faults', plan });
    this.#faults = plan;
  }

  async #startOnPort(): Promise<PartProcess> {
    if (this.#port !== undefined) return this.#launch(this.#port);
    for (let attempt = 1; ; attempt += 1) {
      const port = await findFreePort();
      try {
        const started = await this.#launch(port);
        this.#port = port;
        return started;
      } catch (error) {
        const wasTakenMeanwhile = error instanceof PartStartError && error.portIsTaken;
        if (!wasTakenMeanwhile || attempt === portAttempts) throw error;
      }
    }
  }

  async #launch(port: number): Promise<PartProcess> {
    const { name, entry, environment, onLine, options } = this.#setup;
    if (!(await isPortFree(port))) {
      throw new PartStartError(
        `Port ${port} for ${name} is in use. Stop the program that listens there, or choose another port.`,
        true,
      );
    }
    const all = { ...options(port), port, ...(this.#faults === undefined ? {} : { faults: this.#faults }) };
    return PartProcess.start({ name, entry, environment, onLine, options: all });
  }

  /** Takes the process out of supervision, because it is about to be ended on purpose. */
  #release(): PartProcess {
    const running = this.#running();
    this.#process = undefined;
    return running;
  }

  #running(): PartProcess {
    if (this.#process === undefined) throw new Error(`${this.#setup.name} is not running.`);
    return this.#process;
  }
}
