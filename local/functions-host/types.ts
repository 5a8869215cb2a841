/** The types of the door. */
import type { FaultPlan } from '../faults/index.js';

/** How a host is started. */
export interface FunctionsHostOptions {
  /** Port on 127.0.0.1; absent or 0: a free one. */
  readonly port?: number;
  /** Directory of the app: package.json with `main`, and host.json. */
  readonly appDirectory: string;
  /** Where instances, timer states and keys are kept. */
  readonly dataDirectory: string;
  /** 'never' survives kill -9; 'always' also survives power loss. */
  readonly fsync: 'never' | 'always';
  /** App settings; they become environment variables before the app loads and win over existing ones. */
  readonly settings: Readonly<Record<string, string>>;
  /** Whether the values of local.settings.json in the app's directory are read too; absent: no. */
  readonly useLocalSettings?: boolean;
  /** Faults from the start. */
  readonly faults?: FaultPlan;
  /** Called once when nothing can be stored any more; absent: requests fail from then on. */
  readonly onStorageFailure?: (error: Error) => void;
  /** Takes the lines of the console; absent: the host is silent. */
  readonly log?: (line: string) => void;
}

/** A running host. */
export interface FunctionsHost {
  readonly port: number;
  readonly url: string;
  /** Keys for HTTP functions with authLevel 'admin' and 'function'. */
  readonly keys: { readonly master: string; readonly function: string };
  /** What happened so far: invocations by function, orchestrator turns, activities, timers, events, faults. */
  counters(): Record<string, number>;
  /** Replaces the faults; without a plan there are none. */
  setFaults(plan?: FaultPlan): void;
  /** Takes nothing new, waits for what runs, and closes. */
  close(): Promise<void>;
}
