/**
 * Carries out what instances have on their way: activities, timers and sub-orchestrations. Results go back through
 * `takeResult`, which takes each once (H4 in task-hub.ts).
 */
import type { Counters } from '../counters.js';
import { CutByFault } from '../faults.js';
import { createLimiter } from '../limiter.js';
import { createTimers, type Timers } from '../timers.js';
import { eventTypes, type HistoryEvent } from './history.js';
import { isFinished, type Instance, type InstanceState, type Parent } from './instance.js';
import { activityFailure, childFailure, eventNow, isSameParent, timerName, type StartRequest } from './messages.js';
import type { InstanceStore } from './store.js';

/** Runs an activity; resolves to the JSON text of its result, rejects with the activity's error. */
export type InvokeActivity = (call: {
  readonly name: string;
  readonly input: string;
  readonly instanceId: string;
}) => Promise<string>;

/** What effects need of the task hub. */
export interface EffectsOptions {
  readonly store: InstanceStore;
  readonly counters: Counters;
  readonly invokeActivity: InvokeActivity;
  readonly maxConcurrentActivities: number;
  isOrchestrator(name: string): boolean;
  /** Whether the instance still runs this execution. */
  isCurrent(instance: Instance, executionId: string): boolean;
  takeResult(instance: Instance, executionId: string, event: HistoryEvent): void;
  startChild(instanceId: string, request: StartRequest): void;
}

/** What instances have on their way. */
export interface Effects {
  readonly timers: Timers;
  send(instance: Instance, event: HistoryEvent): void;
  cancelTimer(instance: Instance, id: number): void;
  cancelTimers(instance: Instance): void;
  tellParent(child: InstanceState | Instance): void;
  /** Starts nothing new, and resolves when the activities that run are done. */
  close(): Promise<void>;
}

/** Creates effects with nothing on its way. */
export function createEffects(options: EffectsOptions): Effects {
  const timers = createTimers();
  const activities = createLimiter(options.maxConcurrentActivities);

  function queueActivity(instance: Instance, event: HistoryEvent): void {
    const { executionId } = instance;
    activities.run(async () => {
      if (!options.isCurrent(instance, executionId)) return;
      options.counters.add('activities');
      const result = await runActivity(options.invokeActivity, instance, event);
      if (result === undefined) queueActivity(instance, event);
      else options.takeResult(instance, executionId, result);
    });
  }

  function armTimer(instance: Instance, event: HistoryEvent): void {
    const { executionId } = instance;
    const fireAt = event.FireAt ?? event.Timestamp;
    timers.set(timerName(instance, event.EventId), Date.parse(fireAt), () => {
      options.counters.add('timers.fired');
      const fired = { ...eventNow(eventTypes.timerFired), TimerId: event.EventId, FireAt: fireAt };
      options.takeResult(instance, executionId, fired);
    });
  }

  return {
    timers,
    send(instance, event) {
      if (event.EventType === eventTypes.taskScheduled) queueActivity(instance, event);
      else if (event.EventType === eventTypes.timerCreated) armTimer(instance, event);
      else sendToChild(options, instance, event);
    },
    cancelTimer: (instance, id) => {
      timers.clear(timerName(instance, id));
    },
    cancelTimers(instance) {
      for (const event of instance.open.values()) timers.clear(timerName(instance, event.EventId));
    },
    tellParent: (child) => {
      tellParent(options, child);
    },
    close() {
      timers.clearAll();
      return activities.close();
    },
  };
}

/** Undefined when a fault lost the result: the activity runs again, as after a crash. */
async function runActivity(
  invokeActivity: InvokeActivity,
  { instanceId }: Instance,
  event: HistoryEvent,
): Promise<HistoryEvent | undefined> {
  const name = event.Name ?? '';
  const task = { TaskScheduledId: event.EventId };
  try {
    const result = await invokeActivity({ name, input: event.Input ?? 'null', instanceId });
    return { ...eventNow(eventTypes.taskCompleted), ...task, Result: result };
  } catch (error) {
    if (error instanceof CutByFault) return undefined;
    return { ...eventNow(eventTypes.taskFailed), ...task, ...activityFailure(name, error) };
  }
}

/** Starts a sub-orchestration once: one that this very task has started already is not started again. */
function sendToChild(options: EffectsOptions, parent: Instance, event: HistoryEvent): void {
  const { InstanceId: instanceId = '', Name: name = '', Input: input, Version: version = null } = event;
  const link: Parent = { instanceId: parent.instanceId, executionId: parent.executionId, taskId: event.EventId };
  const existing = options.store.state(instanceId);
  if (existing !== undefined && isSameParent(existing.parent, link)) {
    if (isFinished(existing.runtimeStatus)) tellParent(options, existing);
    return;
  }
  const problem = problemOfChild(options, name, existing);
  if (problem === undefined) options.startChild(instanceId, { name, input: input ?? 'null', version, parent: link });
  else options.takeResult(parent, link.executionId, childFailed(link, { Reason: problem, Details: '' }));
}

function problemOfChild(
  options: EffectsOptions,
  name: string,
  existing: InstanceState | undefined,
): string | undefined {
  if (!options.isOrchestrator(name)) return `The function '${name}' doesn't exist or is no orchestrator.`;
  if (existing === undefined || isFinished(existing.runtimeStatus)) return undefined;
  return `An Orchestration instance with the status ${existing.runtimeStatus} already exists.`;
}

function tellParent(options: EffectsOptions, child: InstanceState | Instance): void {
  if (child.parent === null) return;
  const parent = options.store.get(child.parent.instanceId);
  if (parent === undefined) return;
  const event = child.runtimeStatus === 'Completed' ? childCompleted(child.parent, child.output) : undefined;
  options.takeResult(parent, child.parent.executionId, event ?? childFailed(child.parent, childFailure(child)));
}

function childCompleted({ taskId }: Parent, output: string | null): HistoryEvent {
  const result = { TaskScheduledId: taskId, Result: output ?? 'null' };
  return { ...eventNow(eventTypes.subOrchestrationInstanceCompleted), ...result };
}

function childFailed({ taskId }: Parent, failure: Pick<HistoryEvent, 'Reason' | 'Details'>): HistoryEvent {
  return { ...eventNow(eventTypes.subOrchestrationInstanceFailed), TaskScheduledId: taskId, ...failure };
}
