/**
 * Watches orchestrators while their own code runs and reports what makes them differ from replay to replay: the clock,
 * random numbers, I/O, promises, and calls whose task is never yielded.
 *
 * It looks into fields of the durable-functions library (the executor of the context, and its generator). Should they be
 * missing, the orchestrator runs unwatched.
 */
import { promiseHooks } from 'node:v8';
import type { Console } from './console.js';
import type { FunctionCallback } from './core-api.js';
import type { Counters } from './counters.js';
import { createReplacements } from './determinism-rules.js';

/** Watches an orchestrator function: gives the same function, watched. */
export type WatchOrchestrator = (name: string, orchestrator: FunctionCallback) => FunctionCallback;

/** The library's side of one turn. */
interface Executor {
  generator?: Steps;
  readonly orchestratorReturned?: boolean;
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

const callNames = [
  'callActivity',
  'callActivityWithRetry',
  'callSubOrchestrator',
  'callSubOrchestratorWithRetry',
] as const;
/** Watching costs time: all of an orchestrator's first turns are watched, then one in so many. */
const turnsWatched = 200;
const watchedOneIn = 16;
const ownFrame = /determinism-|node:|[\\/]node_modules[\\/]/;
const useActivity = 'Do it in an activity and yield its task.';

/** Creates the guard; each kind of finding is reported once for each orchestrator. */
export function createDeterminismGuard(console: Console, counters: Counters): WatchOrchestrator {
  const reported = new Set<string>();
  const reportOnce = (orchestrator: string, finding: string, advice: string): void => {
    counters.add('determinism.violations');
    const key = `${orchestrator}/${finding}`;
    if (reported.has(key)) return;
    reported.add(key);
    console.error(`Orchestrator '${orchestrator}' ${finding}${callingLine()}. ${advice}`);
  };
  const runStep = createStepRunner((orchestrator, call, instead) => {
    reportOnce(orchestrator, `is not deterministic: it calls ${call}`, instead);
  });

  return (name, orchestrator) => {
    let turns = 0;
    const watched = watchedOrchestrator(name, orchestrator, { runStep, reportOnce });
    return (trigger, context) => {
      turns += 1;
      const isWatched = turns <= turnsWatched || turns % watchedOneIn === 0;
      return isWatched ? watched(trigger, context) : orchestrator(trigger, context);
    };
  };
}

function watchedOrchestrator(
  name: string,
  orchestrator: FunctionCallback,
  {
    runStep,
    reportOnce,
  }: {
    readonly runStep: RunStep;
    readonly reportOnce: (orchestrator: string, finding: string, advice: string) => void;
  },
): FunctionCallback {
  return async (trigger, context) => {
    const created: CreatedTask[] = [];
    let executor: Executor | undefined;
    onAssigned<DurableContext>(context as object, 'df', (df) => {
      executor = df.taskOrchestratorExecutor;
      recordCalls(df, created);
      if (executor !== undefined)
        onAssigned<Steps>(executor, 'generator', (steps) => watchedSteps(steps, name, runStep));
      return df;
    });
    const result = await orchestrator(trigger, context);
    if (executor?.orchestratorReturned === true) {
      for (const { target, task } of created) {
        if (task.alreadyScheduled !== false) continue;
        reportOnce(name, `calls "${target}" without yielding the task, so "${target}" never runs`, 'Yield it.');
      }
    }
    return result;
  };
}

type RunStep = <T>(orchestrator: string, step: () => T) => T;

/** Gives the function that runs one step of an orchestrator's own code with the guard on. */
function createStepRunner(report: (orchestrator: string, call: string, instead: string) => void): RunStep {
  let current = '';
  let isReporting = false;
  const reportCall = (call: string, instead: string): void => {
    if (isReporting) return;
    isReporting = true;
    report(current, call, instead);
    isReporting = false;
  };
  const replacements = createReplacements(reportCall);
  const onPromise = (): void => {
    reportCall('something that makes a promise', useActivity);
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

/** The line of the app's code that is running, for the report. */
function callingLine(): string {
  const frames = (new Error().stack ?? '').split('\n').slice(1);
  const frame = frames.find((line) => !ownFrame.test(line));
  return frame === undefined ? '' : ` (${frame.trim()})`;
}
