/**
 * One orchestration instance: what is stored of it, and how records change it.
 *
 * Invariants
 * D1 The record of an instance is the only truth; what is on its way (`open`) follows from it.
 * D2 Each change raises `revision` by one. A change applies to exactly the revision before it, so that replaying one
 *    whose effect is there already does nothing.
 */
import { endedTaskId, eventTypes, isScheduling, type HistoryEvent } from './history.js';

export type RuntimeStatus = 'Pending' | 'Running' | 'Completed' | 'Failed' | 'Terminated' | 'Suspended';

/** The orchestration that waits for this one. */
export interface Parent {
  readonly instanceId: string;
  readonly executionId: string;
  readonly taskId: number;
}

/** The stored form; values are JSON text. */
export interface InstanceState {
  readonly instanceId: string;
  readonly executionId: string;
  readonly name: string;
  readonly version: string | null;
  readonly input: string;
  readonly createdTime: string;
  readonly parent: Parent | null;
  readonly revision: number;
  readonly lastUpdatedTime: string;
  readonly runtimeStatus: RuntimeStatus;
  readonly customStatus: string | null;
  readonly output: string | null;
  readonly history: readonly HistoryEvent[];
  /** Events that no turn has taken yet. */
  readonly inbox: readonly HistoryEvent[];
  readonly cancelledTimers: readonly number[];
}

/** An unfinished instance in memory. */
export interface Instance {
  readonly instanceId: string;
  executionId: string;
  readonly name: string;
  readonly version: string | null;
  input: string;
  readonly createdTime: string;
  readonly parent: Parent | null;
  revision: number;
  lastUpdatedTime: string;
  runtimeStatus: RuntimeStatus;
  customStatus: string | null;
  output: string | null;
  history: HistoryEvent[];
  inbox: HistoryEvent[];
  cancelledTimers: number[];
  /** Tasks on their way, by id: scheduled, not cancelled, and no result in history or inbox. */
  open: Map<number, HistoryEvent>;
}

/** What one turn changes. */
export interface TurnChange {
  readonly at: string;
  /** How many inbox events the turn took. */
  readonly taken: number;
  readonly scheduled: readonly HistoryEvent[];
  readonly cancelled: readonly number[];
  readonly status: RuntimeStatus;
  readonly customStatus: string | null;
  readonly output: string | null;
}

/** Whether the instance can still do something. */
export function isFinished(status: RuntimeStatus): boolean {
  return status === 'Completed' || status === 'Failed' || status === 'Terminated';
}

/** The instance in memory, made from its stored form. */
export function openInstance(state: InstanceState): Instance {
  const instance: Instance = {
    ...state,
    history: [...state.history],
    inbox: [...state.inbox],
    cancelledTimers: [...state.cancelledTimers],
    open: new Map(),
  };
  for (const event of instance.history) if (isScheduling(event)) instance.open.set(event.EventId, event);
  for (const id of instance.cancelledTimers) instance.open.delete(id);
  for (const event of [...instance.history, ...instance.inbox]) closeTask(instance, event);
  return instance;
}

/** The stored form of an instance in memory. */
export function instanceState(instance: Instance): InstanceState {
  const { history, inbox, cancelledTimers } = instance;
  return { ...summaryOf(instance), history, inbox, cancelledTimers };
}

/** The state without its lists of events. */
export function summaryOf(instance: Instance): Omit<InstanceState, 'history' | 'inbox' | 'cancelledTimers'> {
  return {
    instanceId: instance.instanceId,
    executionId: instance.executionId,
    name: instance.name,
    version: instance.version,
    input: instance.input,
    createdTime: instance.createdTime,
    parent: instance.parent,
    revision: instance.revision,
    lastUpdatedTime: instance.lastUpdatedTime,
    runtimeStatus: instance.runtimeStatus,
    customStatus: instance.customStatus,
    output: instance.output,
  };
}

/** Puts an event where the next turn finds it. */
export function addToInbox(instance: Instance, event: HistoryEvent): void {
  instance.inbox.push(event);
  closeTask(instance, event);
  instance.revision += 1;
}

/** Applies what operators ask for (terminate, suspend, resume) at once, without a turn. */
export function applyControl(instance: Instance, event: HistoryEvent, status: RuntimeStatus): void {
  instance.history.push(event);
  instance.runtimeStatus = status;
  instance.lastUpdatedTime = event.Timestamp;
  if (status === 'Terminated') instance.output = event.Input ?? null;
  instance.revision += 1;
}

/** Applies a turn: the events it took and what it scheduled become history. */
export function applyTurn(instance: Instance, change: TurnChange): void {
  const { at } = change;
  instance.history.push(orchestratorStarted(at), ...instance.inbox.splice(0, change.taken), ...change.scheduled, {
    EventType: eventTypes.orchestratorCompleted,
    EventId: -1,
    Timestamp: at,
  });
  for (const event of change.scheduled) instance.open.set(event.EventId, event);
  for (const id of change.cancelled) instance.open.delete(id);
  instance.cancelledTimers.push(...change.cancelled);
  const isSuspended = instance.runtimeStatus === 'Suspended' && !isFinished(change.status);
  if (!isSuspended) instance.runtimeStatus = change.status;
  instance.customStatus = change.customStatus;
  instance.output = change.output;
  instance.lastUpdatedTime = at;
  instance.revision += 1;
}

/** Begins the next execution of the same instance: a new history; events nobody has taken go along. */
export function continueAsNew(
  instance: Instance,
  next: {
    readonly executionId: string;
    readonly input: string;
    readonly customStatus: string | null;
    readonly at: string;
    readonly taken: number;
  },
): void {
  const waiting = instance.inbox.slice(next.taken).filter((event) => event.EventType === eventTypes.eventRaised);
  instance.executionId = next.executionId;
  instance.input = next.input;
  instance.customStatus = next.customStatus;
  instance.history = [];
  instance.inbox = [executionStarted(instance, next.at), ...waiting];
  instance.cancelledTimers = [];
  instance.open = new Map();
  instance.lastUpdatedTime = next.at;
  instance.revision += 1;
}

/** The first event of a turn. */
export function orchestratorStarted(at: string): HistoryEvent {
  return { EventType: eventTypes.orchestratorStarted, EventId: -1, Timestamp: at };
}

/** The first event of an execution. */
export function executionStarted(
  instance: { readonly name: string; readonly input: string; readonly version: string | null },
  at: string,
): HistoryEvent {
  return {
    EventType: eventTypes.executionStarted,
    EventId: -1,
    Timestamp: at,
    Name: instance.name,
    Input: instance.input,
    Version: instance.version,
  };
}

function closeTask(instance: Instance, event: HistoryEvent): void {
  const id = endedTaskId(event);
  if (id !== undefined) instance.open.delete(id);
}
