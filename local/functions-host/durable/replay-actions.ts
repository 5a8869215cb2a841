/**
 * Replays what an orchestrator asked for against its history, as the durable extension does, and finds what is new.
 *
 * Invariants
 * A1 Task ids are given in the order of the yields, depth-first through Task.any and Task.all, from one counter for
 *    activities, timers and sub-orchestrations. Waits for events have no id.
 * A2 An action is invoked when the one before it is done; events are taken in the order of the history.
 * A3 A task id that the history knows stands for the same thing again, else the orchestrator is not deterministic.
 * A4 The result depends on the arguments alone: no clock, no random.
 */
import {
  OrchestrationRuleError,
  actionTypes,
  inputJson,
  refusedAction,
  type Action,
  type RetryOptions,
} from './actions.js';
import { endedTaskId, eventTypes, isScheduling, isSuccess, type HistoryEvent } from './history.js';

/** Timers longer than `maximumMs` run as a chain of timers of `intervalMs`. */
export interface LongTimerLimits {
  readonly maximumMs: number;
  readonly intervalMs: number;
}

/** What is replayed. */
export interface ReplayInput {
  readonly executionId: string;
  /** All events of the execution, the new ones included. */
  readonly history: readonly HistoryEvent[];
  /** All actions since the execution started. */
  readonly actions: readonly Action[];
  readonly longTimers: LongTimerLimits;
}

/** What the replay found. */
export interface ReplayResult {
  /** Tasks to put on their way, in id order. */
  readonly scheduled: readonly HistoryEvent[];
  /** Ids of open timers that the orchestrator has cancelled. */
  readonly cancelled: readonly number[];
  /** Whether a task is on its way that the orchestration has to wait for before it can end. */
  readonly hasOpenTasks: boolean;
  /** Input of the next execution, when the orchestrator called continueAsNew. */
  readonly continuedWith: string | undefined;
}

interface Task {
  readonly group: Group | undefined;
  isDone: boolean;
  hasFailed: boolean;
}

interface Group extends Task {
  readonly needsAll: boolean;
  /** How many members it has in the end; early events may end some before all are invoked. */
  readonly size: number;
  readonly members: Task[];
}

/** Runs the replay; throws OrchestrationRuleError when history and actions do not fit. */
export function replayActions(input: ReplayInput): ReplayResult {
  return new ActionReplay(input).run();
}

class ActionReplay {
  readonly #input: ReplayInput;
  readonly #known = new Map<number, HistoryEvent>();
  readonly #scheduled: HistoryEvent[] = [];
  readonly #open = new Map<number, (succeeded: boolean) => void>();
  readonly #waits = new Map<string, (() => void)[]>();
  readonly #earlyEvents = new Map<string, number>();
  readonly #timers: { readonly action: Action; id: number }[] = [];
  #nextId = 0;
  #nextAction = 0;
  #now = '';
  #current: Task | undefined;
  #continuedWith: string | undefined;

  constructor(input: ReplayInput) {
    this.#input = input;
    for (const event of input.history) if (isScheduling(event)) this.#known.set(event.EventId, event);
  }

  run(): ReplayResult {
    for (const event of this.#input.history) this.#take(event);
    this.#assertFollowed();
    const cancelled = this.#timers.filter(({ action, id }) => action.isCanceled === true && this.#open.delete(id));
    return {
      scheduled: this.#scheduled,
      cancelled: cancelled.map(({ id }) => id),
      hasOpenTasks: this.#open.size > 0,
      continuedWith: this.#continuedWith,
    };
  }

  #take(event: HistoryEvent): void {
    if (event.EventType === eventTypes.orchestratorStarted && event.Timestamp > this.#now) this.#now = event.Timestamp;
    else if (event.EventType === eventTypes.executionStarted) this.#invokeNext();
    else if (event.EventType === eventTypes.eventRaised) this.#takeExternalEvent(event.Name ?? '');
    else this.#endTask(endedTaskId(event), isSuccess(event));
    while (this.#current?.isDone === true && this.#nextAction < this.#input.actions.length) this.#invokeNext(); // A2
  }

  #endTask(id: number | undefined, succeeded: boolean): void {
    if (id === undefined) return;
    const end = this.#open.get(id);
    this.#open.delete(id);
    end?.(succeeded);
  }

  /** Several waits for one name are served last-created first, as the library does. */
  #takeExternalEvent(name: string): void {
    const waiting = this.#waits.get(name)?.pop();
    if (waiting !== undefined) waiting();
    else this.#earlyEvents.set(name, (this.#earlyEvents.get(name) ?? 0) + 1);
  }

  #invokeNext(): void {
    const action = this.#input.actions[this.#nextAction];
    if (action === undefined) return;
    this.#nextAction += 1;
    this.#current = this.#invoke(action, undefined);
  }

  #invoke(action: Action, group: Group | undefined): Task {
    if (action.compoundActions !== undefined) return this.#invokeGroup(action, group);
    const task: Task = { group, isDone: false, hasFailed: false };
    this.#begin(action, task);
    return task;
  }

  #begin(action: Action, task: Task): void {
    switch (action.actionType) {
      case actionTypes.callActivity:
      case actionTypes.callActivityWithRetry:
      case actionTypes.callSubOrchestrator:
      case actionTypes.callSubOrchestratorWithRetry:
        this.#call(action, task, 1);
        break;
      case actionTypes.createTimer:
        this.#startTimer(action, task);
        break;
      case actionTypes.waitForExternalEvent:
        this.#wait(action.externalEventName ?? '', task);
        break;
      case actionTypes.continueAsNew:
        this.#continuedWith = inputJson(action);
        break;
      default:
        throw refusedAction(action);
    }
  }

  #invokeGroup(action: Action, parent: Group | undefined): Group {
    const needsAll = action.actionType === actionTypes.whenAll;
    const actions = action.compoundActions ?? [];
    const group: Group = {
      group: parent,
      needsAll,
      size: actions.length,
      members: [],
      isDone: false,
      hasFailed: false,
    };
    for (const member of actions) group.members.push(this.#invoke(member, group));
    settleGroup(group);
    return group;
  }

  #call(action: Action, task: Task, attempt: number): void {
    const isActivity = action.actionType <= actionTypes.callActivityWithRetry;
    const id = this.#schedule((eventId) =>
      isActivity ? activityEvent(action, eventId, this.#now) : this.#childEvent(action, eventId),
    );
    this.#open.set(id, (succeeded) => {
      if (succeeded || action.retryOptions === undefined) settle(task, !succeeded);
      else this.#backOff(action, task, attempt);
    });
  }

  /** A timer is armed after the last failure too: the failure surfaces one interval later, as in Azure. */
  #backOff(action: Action, task: Task, attempt: number): void {
    const options = action.retryOptions;
    if (options === undefined) return;
    const fireAt = new Date(Date.parse(this.#now) + retryDelayMs(options, attempt)).toISOString();
    const id = this.#schedule((eventId) => timerEvent(fireAt, eventId, this.#now));
    this.#open.set(id, () => {
      if (attempt >= options.maxNumberOfAttempts) settle(task, true);
      else this.#call(action, task, attempt + 1);
    });
  }

  #startTimer(action: Action, task: Task): void {
    const end = new Date(action.fireAt ?? Number.NaN);
    if (Number.isNaN(end.getTime())) {
      throw new OrchestrationRuleError('context.df.createTimer was given an invalid date.');
    }
    const timer = { action, id: -1 };
    this.#timers.push(timer);
    this.#hop(end.getTime(), task, timer);
  }

  #hop(end: number, task: Task, timer: { id: number }): void {
    const now = Date.parse(this.#now);
    const { maximumMs, intervalMs } = this.#input.longTimers;
    const fireAt = new Date(end - now > maximumMs ? now + intervalMs : end).toISOString();
    timer.id = this.#schedule((eventId) => timerEvent(fireAt, eventId, this.#now));
    this.#open.set(timer.id, () => {
      if (end > Date.parse(this.#now)) this.#hop(end, task, timer);
      else settle(task, false);
    });
  }

  #wait(name: string, task: Task): void {
    const early = this.#earlyEvents.get(name) ?? 0;
    if (early > 0) {
      this.#earlyEvents.set(name, early - 1);
      settle(task, false);
      return;
    }
    const waits = this.#waits.get(name) ?? [];
    waits.push(() => {
      settle(task, false);
    });
    this.#waits.set(name, waits);
  }

  #schedule(create: (id: number) => HistoryEvent): number {
    const id = this.#nextId; // A1
    this.#nextId += 1;
    const event = create(id);
    const known = this.#known.get(id);
    if (known === undefined) this.#scheduled.push(event);
    else if (!isSameTask(known, event)) throw notDeterministic(known, describe(event)); // A3
    return id;
  }

  #childEvent(action: Action, id: number): HistoryEvent {
    const childId = action.instanceId ?? `${this.#input.executionId}:${id.toString(16).padStart(8, '0')}`;
    return {
      EventType: eventTypes.subOrchestrationInstanceCreated,
      EventId: id,
      Timestamp: this.#now,
      Name: action.functionName ?? '',
      InstanceId: childId,
      Input: inputJson(action),
      ...(action.version === undefined ? {} : { Version: action.version }),
    };
  }

  #assertFollowed(): void {
    for (const [id, known] of this.#known) if (id >= this.#nextId) throw notDeterministic(known, 'nothing'); // A3
    if (this.#nextAction < this.#input.actions.length) {
      throw new OrchestrationRuleError(
        'The orchestrator is not deterministic: it went on past a task that its history does not show as done.',
      );
    }
  }
}

function settle(task: Task, hasFailed: boolean): void {
  if (task.isDone) return;
  task.isDone = true;
  task.hasFailed = hasFailed;
  if (task.group !== undefined) settleGroup(task.group);
}

function settleGroup(group: Group): void {
  if (!group.needsAll) {
    if (group.members.some((member) => member.isDone)) settle(group, false);
    return;
  }
  const hasFailed = group.members.some((member) => member.hasFailed);
  const done = group.members.filter((member) => member.isDone).length;
  if (hasFailed || done === group.size) settle(group, hasFailed);
}

function activityEvent(action: Action, id: number, now: string): HistoryEvent {
  return {
    EventType: eventTypes.taskScheduled,
    EventId: id,
    Timestamp: now,
    Name: action.functionName ?? '',
    Input: inputJson(action),
  };
}

function timerEvent(fireAt: string, id: number, now: string): HistoryEvent {
  return { EventType: eventTypes.timerCreated, EventId: id, Timestamp: now, FireAt: fireAt };
}

function retryDelayMs(options: RetryOptions, attempt: number): number {
  if (options.retryTimeoutInMilliseconds !== undefined) {
    throw new OrchestrationRuleError(
      'RetryOptions.retryTimeoutInMilliseconds makes orchestrations hang in Azure. Set maxNumberOfAttempts alone.',
    );
  }
  const delay = options.firstRetryIntervalInMilliseconds * (options.backoffCoefficient ?? 1) ** (attempt - 1);
  return Math.min(delay, options.maxRetryIntervalInMilliseconds ?? Number.POSITIVE_INFINITY);
}

function isSameTask(known: HistoryEvent, event: HistoryEvent): boolean {
  return known.EventType === event.EventType && known.Name === event.Name;
}

function describe(event: HistoryEvent): string {
  if (event.EventType === eventTypes.timerCreated) return 'a timer';
  const kind = event.EventType === eventTypes.taskScheduled ? 'activity' : 'sub-orchestration';
  return `${kind} "${event.Name ?? ''}"`;
}

function notDeterministic(known: HistoryEvent, instead: string): OrchestrationRuleError {
  return new OrchestrationRuleError(
    `The orchestrator is not deterministic: task ${known.EventId} was ${describe(known)} when it first ran, ` +
      `and is ${instead} in this replay. Either its code changed while the instance was running, or it decides by ` +
      'something other than its input, its events and context.df.currentUtcDateTime.',
  );
}
