/**
 * Watches orchestrators while their own code runs and reports what makes them differ from replay to replay: the clock,
 * random numbers, I/O, promises, and calls whose task is never yielded.
 *
 * It looks into fields of the durable-functions library (the executor of the context, its generator and its exception).
 * Should they be missing, the orchestrator runs unwatched.
 */
import { promiseHooks } from 'node:v8';
import type { FunctionCallback } from '../core-api.js';
import { createReplacements } from './determinism-rules.js';

/** Watches an orchestrator function: gives the same function, watched. */
export type WatchOrchestrator = (name: string, orchestrator: FunctionCallback) => FunctionCallback;

/** The library's side of one turn. */
interface Executor {
  generator?: Steps;
  readonly orchestratorReturned?: boolean;
  readonly exception?: unknown;
}

interface Steps {
  next(value?: unknown): unknown;
  throw(error: unknown): unknown;
}

interface DurableContext {
  readonly taskOrchestratorExecutor?: Executor;
}

type CallName = (typeof callNames)[number];
type Call = (target: string, ...rest: unknown[]) => { readonly alreadyScheduled?: boolean };

interface CreatedTask {
  readonly target: string;
  readonly task: ReturnType<Call>;
}

type Report = (orchestrator: string, finding: string, advice: string) => void;
type RunStep = <T>(orchestrator: string, step: () => T) => T;

const callNames = [
  'callActivity',
  'callActivityWithRetry',
  'callSubOrchestrator',
  'callSubOrchestratorWithRetry',
] as const;
/** Watching costs time: all of an orchestrator's first turns are watched, then one in so many. */
const turnsWatched = 200;
const watchedOneIn = 16;
const guardFrame = /[\\/]determinism-(guard|rules)\.|<anonymous>/;
/** Who may use the clock and the like on the orchestrator's behalf: this host, Node and the libraries. */
const trustedFrames = [
  new URL('.', import.meta.url).href,
  'node:',
  '/node_modules/durable-functions/',
  '/node_modules/@azure/functions/',
  '/node_modules/moment/',
];

/**
 * Creates the guard. `violated` is called for each violation, with a text for the first one of its kind in each
 * orchestrator.
 */
export function createDeterminismGuard(violated: (text: string | undefined) => void): WatchOrchestrator {
  const reported = new Set<string>();
  const report: Report = (orchestrator, finding, advice) => {
    const key = `${orchestrator}/${finding}`;
    const isFirst = !reported.has(key);
    reported.add(key);
    violated(isFirst ? `Orchestrator '${orchestrator}' ${finding}. ${advice}` : undefined);
  };
  const runStep = createStepRunner(report);
  return (name, orchestrator) => {
    let turns = 0;
    return (trigger, context) => {
      turns += 1;
      const isWatched = turns <= turnsWatched || turns % watchedOneIn === 0;
      return isWatched
        ? runWatched(name, () => orchestrator(trigger, context), { context: context as object, runStep, report })
        : orchestrator(trigger, context);
    };
  };
}

async function runWatched(
  name: string,
  run: () => unknown,
  { context, runStep, report }: { readonly context: object; readonly runStep: RunStep; readonly report: Report },
): Promise<unknown> {
  const created: CreatedTask[] = [];
  let executor: Executor | undefined;
  onAssigned<DurableContext>(context, 'df', (df) => {
    executor = df.taskOrchestratorExecutor;
    recordCalls(df, created);
    if (executor !== undefined) onAssigned<Steps>(executor, 'generator', (steps) => watchedSteps(steps, name, runStep));
    return df;
  });
  try {
    return await run();
  } catch (error) {
    showOwnStack(error, executor?.exception);
    throw error;
  } finally {
    if (executor?.orchestratorReturned === true) reportForgotten(name, created, report);
  }
}

function reportForgotten(name: string, created: readonly CreatedTask[], report: Report): void {
  for (const { target, task } of created) {
    if (task.alreadyScheduled !== false) continue;
    report(name, `calls "${target}" without yielding the task, so "${target}" never runs`, 'Yield it.');
  }
}

/** The library throws an error of its own without a stack; the console shows where the app's error came from. */
function showOwnStack(error: unknown, cause: unknown): void {
  if (error instanceof Error && cause instanceof Error && cause.stack !== undefined) error.stack = cause.stack;
}

/** Gives the function that runs one step of an orchestrator's own code with the guard on. */
function createStepRunner(report: Report): RunStep {
  let current = '';
  const reportCall = (call: string, instead: string): void => {
    const caller = callingFrame();
    if (caller !== undefined) report(current, `is not deterministic: it calls ${call} (${caller})`, instead);
  };
  const replacements = createReplacements(reportCall);
  const onPromise = (): void => {
    reportCall('something that makes a promise', 'Do it in an activity and yield its task.');
  };
  return (orchestrator, step) => {
    current = orchestrator;
    for (const { owner, name, guarded } of replacements) owner[name] = guarded;
    const stopHook = promiseHooks.onInit(onPromise) as () => void;
    try {
      return step();
    } finally {
      stopHook();
      for (const { owner, name, original } of replacements) owner[name] = original;
    }
  };
}

function watchedSteps(steps: Steps, orchestrator: string, runStep: RunStep): Steps {
  return {
    next: (value) => runStep(orchestrator, () => steps.next(value)),
    throw: (error) => runStep(orchestrator, () => steps.throw(error)),
  };
}

/** Replaces a property's value at the moment the library sets it. */
function onAssigned<T>(owner: object, property: string, replace: (value: T) => T): void {
  let value: T | undefined;
  Object.defineProperty(owner, property, {
    configurable: true,
    enumerable: true,
    get: () => value,
    set: (assigned: T) => {
      value = replace(assigned);
    },
  });
}

function recordCalls(df: DurableContext, created: CreatedTask[]): void {
  const calls = df as Partial<Record<CallName, Call>>;
  for (const name of callNames) {
    const original = calls[name]?.bind(df);
    if (original === undefined) continue;
    calls[name] = (target, ...rest) => {
      const task = original(target, ...rest);
      created.push({ target, task });
      return task;
    };
  }
}

/** Where the guarded call was made; undefined when a trusted library made it. */
function callingFrame(): string | undefined {
  const frames = (new Error().stack ?? '').split('\n').slice(1);
  const frame = frames.find((line) => !guardFrame.test(line));
  if (frame === undefined || trustedFrames.some((trusted) => frame.includes(trusted))) return undefined;
  return frame.trim();
}
