/**
 * Drives an orchestrator through the real replay engine of durable-functions, one turn after the other, as a task hub
 * does: each turn replays the whole history, so an orchestrator that is not deterministic fails here too.
 */
import { createRequire } from 'node:module';
import type { InvocationContext } from '@azure/functions';
import type { OrchestrationContext, OrchestrationHandler } from 'durable-functions';

/** One event of a Durable history, as the task hub stores it. */
export type HistoryEvent = Readonly<Record<string, unknown>> & { readonly EventType: number };

/** What an orchestrator has asked for, in a form that can be compared and stored. */
export interface ActionSummary {
  readonly kind: string;
  readonly name?: string;
  readonly input?: unknown;
  readonly fireAt?: string;
  readonly isCanceled?: boolean;
  readonly children?: readonly ActionSummary[];
}

/** The outcome of replaying a history. */
export interface ReplayResult {
  readonly isDone: boolean;
  readonly output: unknown;
  readonly error: string | undefined;
  readonly actions: readonly ActionSummary[];
}

/** Something that happens to the instance between two turns. */
export type Happening =
  | { readonly kind: 'completed'; readonly activity: string; readonly result: unknown }
  | { readonly kind: 'failed'; readonly activity: string; readonly reason: string }
  | { readonly kind: 'raised'; readonly name: string; readonly payload: unknown }
  /** The step's timer, or the back-off timer of an activity that is retried. */
  | { readonly kind: 'timerFired' };

/** One instance under test. */
export interface OrchestrationRun {
  readonly history: readonly HistoryEvent[];
  /** Runs a turn at this time, with the events that have come. */
  turn(at: string, ...happenings: readonly Happening[]): Promise<ReplayResult>;
  /** How the open activity of this name is retried. */
  retryOptionsOf(activity: string): RawRetryOptions;
  /** Inputs of the activities of this name that wait to run. */
  waitingInputs(activity: string): readonly unknown[];
  /** Timers that would keep the instance running. */
  openTimers(): number;
}

interface OpenTask {
  readonly actionObj: RawAction | 'noOp';
}

/** The retry options of durable-functions, in milliseconds. */
export interface RawRetryOptions {
  readonly firstRetryIntervalInMilliseconds: number;
  readonly maxNumberOfAttempts: number;
  readonly backoffCoefficient: number;
  readonly maxRetryIntervalInMilliseconds: number;
}

interface RawAction {
  readonly retryOptions?: RawRetryOptions;
  readonly actionType: number;
  readonly functionName?: string;
  readonly input?: unknown;
  readonly externalEventName?: string;
  readonly fireAt?: Date;
  readonly isCanceled?: boolean;
  readonly compoundActions?: readonly RawAction[];
}

interface RawState {
  readonly isDone: boolean;
  readonly output?: unknown;
  readonly error?: string;
  readonly actions: readonly (readonly RawAction[])[];
}

interface Engine {
  readonly taskOrchestrationExecutor: { readonly openTasks: Readonly<Record<string, OpenTask>> };
  handle(trigger: object, context: object): Promise<RawState>;
}

const require = createRequire(import.meta.url);
const { Orchestrator } = require('durable-functions/lib/src/orchestrations/Orchestrator.js') as {
  Orchestrator: new (handler: OrchestrationHandler) => Engine;
};

const eventTypes = {
  executionStarted: 0,
  taskCompleted: 5,
  taskFailed: 6,
  timerFired: 11,
  orchestratorStarted: 12,
  orchestratorCompleted: 13,
  eventRaised: 15,
} as const;

/** What the extension sends along with each history. */
const hostSettings = {
  isReplaying: false,
  upperSchemaVersion: 3,
  maximumShortTimerDuration: '6.00:00:00',
  longRunningTimerIntervalDuration: '3.00:00:00',
  defaultHttpAsyncRequestSleepTimeMillseconds: 30_000,
} as const;

const actionKinds: Readonly<Record<number, string>> = {
  0: 'callActivity',
  1: 'callActivityWithRetry',
  5: 'createTimer',
  6: 'waitForExternalEvent',
  11: 'whenAny',
};

type Subject = { readonly instanceId: string; readonly input: unknown };
type Handler = (context: OrchestrationContext) => Generator<unknown, unknown>;

/** Replays a history once. */
export async function replay(
  orchestrator: Handler,
  subject: Subject,
  history: readonly HistoryEvent[],
): Promise<ReplayResult> {
  return (await execute(orchestrator, subject, history)).result;
}

/** Starts an instance at this time; nothing has run yet. */
export function startRun(orchestrator: Handler, subject: Subject, at: string): OrchestrationRun {
  const history: HistoryEvent[] = [];
  let open: Readonly<Record<string, OpenTask>> = {};

  const turn: OrchestrationRun['turn'] = async (now, ...happenings) => {
    const isFirst = history.length === 0;
    const events = happenings.map((happening) => toEvent(happening, open, now));
    history.push({ EventType: eventTypes.orchestratorStarted, EventId: -1, IsPlayed: false, Timestamp: now });
    if (isFirst) history.push(executionStarted(subject, at));
    history.push(...events);
    const { result, openTasks } = await execute(orchestrator, subject, history);
    open = openTasks;
    history.push({ EventType: eventTypes.orchestratorCompleted, EventId: -1, IsPlayed: false, Timestamp: now });
    return result;
  };

  return {
    history,
    turn,
    retryOptionsOf: (activity) => {
      const options = activitiesIn(open, activity)[0]?.[1].retryOptions;
      if (options === undefined) throw new Error(`no activity ${activity} with retries is open`);
      return options;
    },
    waitingInputs: (activity) => activitiesIn(open, activity).map(([, { input }]) => parsed(input)),
    openTimers: () =>
      actionsIn(open).filter(([, action]) => action.actionType === 5 && action.isCanceled !== true).length,
  };
}

async function execute(
  orchestrator: Handler,
  { instanceId, input }: Subject,
  history: readonly HistoryEvent[],
): Promise<{ result: ReplayResult; openTasks: Readonly<Record<string, OpenTask>> }> {
  const engine = new Orchestrator(orchestrator as OrchestrationHandler);
  const trigger = { ...hostSettings, history: structuredClone(history), input, instanceId };
  const context = { invocationId: 'test' } as unknown as InvocationContext;
  const state = await engine.handle(trigger, context).catch(stateOfFailure);
  const { isDone, output, error, actions } = state;
  const result = { isDone, output, error, actions: actions.flat().map(summary) };
  return { result, openTasks: { ...engine.taskOrchestrationExecutor.openTasks } };
}

/** A failed orchestration is told by an error whose message carries the state. */
function stateOfFailure(failure: unknown): RawState {
  const [, state] = (failure as Error).message.split('$OutOfProcData$:');
  if (state === undefined) throw failure;
  return JSON.parse(state) as RawState;
}

function executionStarted({ input }: Subject, at: string): HistoryEvent {
  return {
    EventType: eventTypes.executionStarted,
    EventId: -1,
    IsPlayed: false,
    Timestamp: at,
    Name: 'orderOrchestrator',
    Input: JSON.stringify(input),
  };
}

function toEvent(happening: Happening, open: Readonly<Record<string, OpenTask>>, at: string): HistoryEvent {
  const base = { EventId: -1, IsPlayed: false, Timestamp: at };
  switch (happening.kind) {
    case 'completed': {
      const TaskScheduledId = idOfActivity(open, happening.activity);
      return {
        ...base,
        EventType: eventTypes.taskCompleted,
        TaskScheduledId,
        Result: JSON.stringify(happening.result),
      };
    }
    case 'failed': {
      const TaskScheduledId = idOfActivity(open, happening.activity);
      return { ...base, EventType: eventTypes.taskFailed, TaskScheduledId, Reason: happening.reason, Details: '' };
    }
    case 'raised':
      return {
        ...base,
        EventType: eventTypes.eventRaised,
        Name: happening.name,
        Input: JSON.stringify(happening.payload),
      };
    case 'timerFired':
      return { ...base, EventType: eventTypes.timerFired, TimerId: idOfTimer(open), FireAt: at };
  }
}

function actionsIn(open: Readonly<Record<string, OpenTask>>): readonly (readonly [number, RawAction])[] {
  return Object.entries(open).flatMap(([id, { actionObj }]) => (actionObj === 'noOp' ? [] : [[Number(id), actionObj]]));
}

function activitiesIn(
  open: Readonly<Record<string, OpenTask>>,
  name: string,
): readonly (readonly [number, RawAction])[] {
  return actionsIn(open).filter(([, action]) => action.functionName === name);
}

/** While an activity waits to be retried, its task is open only as an empty one: the back-off timer, then the retry. */
function idOfActivity(open: Readonly<Record<string, OpenTask>>, name: string): number {
  return lastOf([...activitiesIn(open, name).map(([id]) => id), ...emptyTasksIn(open)], `activity ${name}`);
}

function idOfTimer(open: Readonly<Record<string, OpenTask>>): number {
  const timers = actionsIn(open).filter(([, { actionType, isCanceled }]) => actionType === 5 && isCanceled !== true);
  return lastOf([...timers.map(([id]) => id), ...emptyTasksIn(open)], 'timer');
}

function emptyTasksIn(open: Readonly<Record<string, OpenTask>>): readonly number[] {
  return Object.entries(open).flatMap(([id, { actionObj }]) => (actionObj === 'noOp' ? [Number(id)] : []));
}

function lastOf(ids: readonly number[], what: string): number {
  const id = ids.at(-1);
  if (id === undefined) throw new Error(`no ${what} is open`);
  return id;
}

function summary(action: RawAction): ActionSummary {
  const { actionType, functionName, externalEventName, input, fireAt, isCanceled, compoundActions } = action;
  const name = functionName ?? externalEventName;
  return {
    kind: actionKinds[actionType] ?? `action ${actionType}`,
    ...(name === undefined ? {} : { name }),
    ...(input === undefined ? {} : { input: parsed(input) }),
    ...(fireAt === undefined ? {} : { fireAt: new Date(fireAt).toISOString(), isCanceled: isCanceled ?? false }),
    ...(compoundActions === undefined ? {} : { children: compoundActions.map(summary) }),
  };
}

/** The engine hands inputs on as JSON text. */
function parsed(input: unknown): unknown {
  return typeof input === 'string' ? (JSON.parse(input) as unknown) : input;
}
