/**
 * The task hub: takes requests, runs turns, and carries out what orchestrations have on their way.
 *
 * Invariants
 * H1 What comes from outside is in the inbox and durable before it is acknowledged.
 * H2 A turn is saved once, whole, and nothing it asked for is sent before. A crash before the save repeats the turn.
 * H3 What is on its way follows from the stored instance: scheduled, not cancelled, no result yet. After a restart it is
 *    carried out again, so activities run at least once.
 * H4 A result is taken once: only while its task is open, in the same execution.
 * H5 One instance runs one turn at a time.
 */
import { randomUUID } from 'node:crypto';
import type { Console } from '../console.js';
import type { Counters } from '../counters.js';
import { CutByFault } from '../faults.js';
import { createLimiter, type Limiter } from '../limiter.js';
import { createTimers } from '../timers.js';
import { eventTypes, type HistoryEvent } from './history.js';
import { isFinished, type Instance, type InstanceState, type Parent, type RuntimeStatus } from './instance.js';
import {
  activityFailure,
  childFailure,
  eventNow,
  isSameParent,
  newInstance,
  timerName,
  turnTime,
  type StartRequest,
} from './messages.js';
import type { LongTimerLimits } from './replay-actions.js';
import type { InstanceStore } from './store.js';
import { runTurn, type InvokeOrchestrator, type TurnOutcome } from './turn.js';

/** Runs an activity; resolves to the JSON text of its result, rejects with the activity's error. */
export type InvokeActivity = (call: {
  readonly name: string;
  readonly input: string;
  readonly instanceId: string;
}) => Promise<string>;

/** What the task hub needs. */
export interface TaskHubOptions {
  readonly store: InstanceStore;
  readonly invokeOrchestrator: InvokeOrchestrator;
  readonly invokeActivity: InvokeActivity;
  readonly console: Console;
  readonly counters: Counters;
  readonly maxConcurrentActivities: number;
  readonly maxConcurrentOrchestrators: number;
  /** Whether starting the id of an active instance replaces it. */
  readonly canOverrideAnyState: boolean;
  readonly defaultVersion: string | null;
  readonly longTimers?: LongTimerLimits;
}

export type StartOutcome =
  | { readonly kind: 'started'; readonly instanceId: string }
  | { readonly kind: 'alreadyActive'; readonly status: RuntimeStatus };

/** What became of a message to an instance. */
export type Delivery = 'accepted' | 'unknown' | 'finished';

const dayMs = 86_400_000;
const azureStorageTimers: LongTimerLimits = { maximumMs: 6 * dayMs, intervalMs: 3 * dayMs };
const firstRepeatMs = 500;
const longestRepeatMs = 30_000;

/** The task hub while the host runs. */
export class TaskHub {
  readonly #options: TaskHubOptions;
  readonly #store: InstanceStore;
  readonly #timers = createTimers();
  readonly #activities: Limiter;
  readonly #turns: Limiter;
  /** Instances with a turn queued or running. */
  readonly #busy = new Set<Instance>();
  #isClosed = false;

  constructor(options: TaskHubOptions) {
    this.#options = options;
    this.#store = options.store;
    this.#activities = createLimiter(options.maxConcurrentActivities);
    this.#turns = createLimiter(options.maxConcurrentOrchestrators);
  }

  /** Takes up what a former host left (H3). */
  recover(): void {
    for (const instance of [...this.#store.running()]) {
      for (const event of [...instance.open.values()]) this.#send(instance, event);
      this.#wake(instance);
    }
  }

  async start(request: StartRequest): Promise<StartOutcome> {
    const instanceId = request.instanceId ?? randomUUID().replaceAll('-', '');
    const active = this.#store.get(instanceId);
    if (active !== undefined && !this.#options.canOverrideAnyState) {
      return { kind: 'alreadyActive', status: active.runtimeStatus };
    }
    if (active !== undefined) this.#cancelTimers(active);
    await this.#create(instanceId, request); // H1
    return { kind: 'started', instanceId };
  }

  raiseEvent(instanceId: string, name: string, input: string): Promise<Delivery> {
    this.#options.counters.add('events.raised');
    return this.#deliver(instanceId, { ...eventNow(eventTypes.eventRaised), Name: name, Input: input });
  }

  terminate(instanceId: string, reason: string): Promise<Delivery> {
    const event = { ...eventNow(eventTypes.executionTerminated), Input: JSON.stringify(reason) };
    return this.#control(instanceId, event, 'Terminated');
  }

  suspend(instanceId: string, reason: string): Promise<Delivery> {
    return this.#control(instanceId, { ...eventNow(eventTypes.executionSuspended), Reason: reason }, 'Suspended');
  }

  resume(instanceId: string, reason: string): Promise<Delivery> {
    return this.#control(instanceId, { ...eventNow(eventTypes.executionResumed), Reason: reason }, 'Running');
  }

  /** The instance as it is stored; waits until what it shows is durable. */
  async state(instanceId: string): Promise<InstanceState | undefined> {
    const state = this.#store.state(instanceId);
    await this.#store.whenDurable();
    return state;
  }

  /** All instances, unfinished ones first. */
  *states(): Iterable<InstanceState> {
    for (const instanceId of this.#store.ids()) {
      const state = this.#store.state(instanceId);
      if (state !== undefined) yield state;
    }
  }

  /** Resolves when everything that `states` has shown is durable. */
  whenDurable(): Promise<void> {
    return this.#store.whenDurable();
  }

  /** Removes a finished instance; says whether there was one. */
  async purge(instanceId: string): Promise<boolean> {
    if (!this.#store.isFinished(instanceId)) return false;
    await this.#store.purge(instanceId);
    return true;
  }

  /** Starts nothing new, and waits for the turns and activities that run. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timers.clearAll();
    await Promise.all([this.#turns.close(), this.#activities.close()]);
  }

  #create(instanceId: string, request: StartRequest): Promise<void> {
    const { instance, saved } = this.#store.create(newInstance(instanceId, request, this.#options.defaultVersion));
    this.#options.counters.add('orchestrations.started');
    this.#wake(instance);
    return saved;
  }

  async #deliver(instanceId: string, event: HistoryEvent): Promise<Delivery> {
    const instance = this.#store.get(instanceId);
    if (instance === undefined) return this.#store.isFinished(instanceId) ? 'finished' : 'unknown';
    await this.#receive(instance, event); // H1
    return 'accepted';
  }

  #receive(instance: Instance, event: HistoryEvent): Promise<void> {
    const saved = this.#store.receive(instance, event);
    this.#wake(instance);
    return saved;
  }

  async #control(instanceId: string, event: HistoryEvent, status: RuntimeStatus): Promise<Delivery> {
    const instance = this.#store.get(instanceId);
    if (instance === undefined) return this.#store.isFinished(instanceId) ? 'finished' : 'unknown';
    const saved = this.#store.control(instance, event, status);
    if (isFinished(status)) this.#finished(instance);
    else this.#wake(instance);
    await saved;
    return 'accepted';
  }

  /** Queues a turn when there is something to do for the instance and none is queued (H5). */
  #wake(instance: Instance, repeatMs = firstRepeatMs): void {
    const isIdle = instance.inbox.length === 0 || instance.runtimeStatus === 'Suspended';
    if (isIdle || this.#isClosed || this.#busy.has(instance)) return;
    this.#busy.add(instance);
    this.#turns.run(() => this.#turn(instance, repeatMs));
  }

  async #turn(instance: Instance, repeatMs: number): Promise<void> {
    try {
      await this.#runTurn(instance);
    } catch (error) {
      this.#options.console.error(
        `Orchestration '${instance.instanceId}' (${instance.name}) could not run; next try in ${repeatMs} ms: ` +
          (error instanceof Error ? error.message : String(error)),
      );
      this.#timers.set(`repeat/${instance.executionId}`, Date.now() + repeatMs, () => {
        this.#busy.delete(instance);
        this.#wake(instance, Math.min(repeatMs * 2, longestRepeatMs));
      });
      return;
    }
    this.#busy.delete(instance);
    if (this.#store.get(instance.instanceId) === instance) this.#wake(instance);
  }

  async #runTurn(instance: Instance): Promise<void> {
    if (!this.#isCurrent(instance, instance.executionId) || instance.runtimeStatus === 'Suspended') return;
    const { executionId } = instance;
    const batch = [...instance.inbox];
    const at = turnTime(instance, batch);
    this.#options.counters.add('orchestrator.turns');
    const { longTimers = azureStorageTimers } = this.#options;
    const outcome = await runTurn({ instance, batch, at, longTimers }, this.#options.invokeOrchestrator);
    if (this.#isCurrent(instance, executionId)) this.#save(instance, outcome, { at, taken: batch.length });
  }

  /** The next turn may begin before this one is durable: the journal keeps their order. */
  #save(instance: Instance, outcome: TurnOutcome, turn: { readonly at: string; readonly taken: number }): void {
    if (outcome.kind === 'continueAsNew') {
      const executionId = randomUUID().replaceAll('-', '');
      this.#whenSaved(this.#store.continueAsNew(instance, { ...outcome, ...turn, executionId }));
      return;
    }
    const { change } = outcome;
    for (const id of change.cancelled) {
      this.#options.counters.add('timers.cancelled');
      this.#cancelTimer(instance, id);
    }
    for (const event of change.scheduled) {
      if (event.EventType === eventTypes.timerCreated) this.#options.counters.add('timers.created');
    }
    const saved = this.#store.turn(instance, change);
    if (isFinished(change.status)) this.#finished(instance);
    const sendAll = (): void => {
      for (const event of change.scheduled) if (instance.open.has(event.EventId)) this.#send(instance, event);
    };
    this.#whenSaved(saved, sendAll); // H2
  }

  /** What cannot be stored can only be reported: the journal then refuses everything that follows. */
  #whenSaved(saved: Promise<void>, next?: () => void): void {
    saved.then(next, (error: unknown) => {
      this.#options.console.error(`The task hub cannot store its state: ${String(error)}`);
    });
  }

  #send(instance: Instance, event: HistoryEvent): void {
    if (!this.#isCurrent(instance, instance.executionId)) return;
    if (event.EventType === eventTypes.taskScheduled) this.#queueActivity(instance, event);
    else if (event.EventType === eventTypes.timerCreated) this.#armTimer(instance, event);
    else this.#startChild(instance, event);
  }

  #queueActivity(instance: Instance, event: HistoryEvent): void {
    const { executionId } = instance;
    this.#activities.run(async () => {
      if (!this.#isCurrent(instance, executionId) || this.#isClosed) return;
      this.#options.counters.add('activities');
      const result = await this.#runActivity(instance, event);
      if (result === undefined) this.#queueActivity(instance, event);
      else this.#takeResult(instance, executionId, result);
    });
  }

  /** Undefined when the result was lost: the activity runs again, as after a crash. */
  async #runActivity({ instanceId }: Instance, event: HistoryEvent): Promise<HistoryEvent | undefined> {
    const call = { name: event.Name ?? '', input: event.Input ?? 'null', instanceId };
    try {
      const result = await this.#options.invokeActivity(call);
      return { ...eventNow(eventTypes.taskCompleted), TaskScheduledId: event.EventId, Result: result };
    } catch (error) {
      if (error instanceof CutByFault) return undefined;
      return {
        ...eventNow(eventTypes.taskFailed),
        TaskScheduledId: event.EventId,
        ...activityFailure(call.name, error),
      };
    }
  }

  #armTimer(instance: Instance, event: HistoryEvent): void {
    const { executionId } = instance;
    const fireAt = event.FireAt ?? event.Timestamp;
    this.#timers.set(timerName(instance, event.EventId), Date.parse(fireAt), () => {
      this.#options.counters.add('timers.fired');
      const fired = { ...eventNow(eventTypes.timerFired), TimerId: event.EventId, FireAt: fireAt };
      this.#takeResult(instance, executionId, fired);
    });
  }

  #startChild(parent: Instance, event: HistoryEvent): void {
    const instanceId = event.InstanceId ?? '';
    const link: Parent = { instanceId: parent.instanceId, executionId: parent.executionId, taskId: event.EventId };
    const existing = this.#store.state(instanceId);
    if (existing !== undefined && isSameParent(existing.parent, link)) {
      if (isFinished(existing.runtimeStatus)) this.#tellParent(existing);
      return;
    }
    if (existing !== undefined && !isFinished(existing.runtimeStatus)) {
      const reason = `An Orchestration instance with the status ${existing.runtimeStatus} already exists.`;
      const failed = { ...eventNow(eventTypes.subOrchestrationInstanceFailed), TaskScheduledId: link.taskId };
      this.#takeResult(parent, link.executionId, { ...failed, Reason: reason, Details: '' });
      return;
    }
    const { Name: name = '', Input: input, Version: version = null } = event;
    this.#whenSaved(this.#create(instanceId, { name, input: input ?? 'null', version, parent: link }));
  }

  /** H4 */
  #takeResult(instance: Instance, executionId: string, event: HistoryEvent): void {
    const taskId = event.TaskScheduledId ?? event.TimerId ?? -1;
    if (!this.#isCurrent(instance, executionId) || !instance.open.has(taskId)) return;
    this.#whenSaved(this.#receive(instance, event));
  }

  #finished(instance: Instance): void {
    this.#options.counters.add(`orchestrations.${instance.runtimeStatus.toLowerCase()}`);
    this.#cancelTimers(instance);
    this.#tellParent(instance);
  }

  #tellParent(child: InstanceState | Instance): void {
    if (child.parent === null) return;
    const parent = this.#store.get(child.parent.instanceId);
    if (parent === undefined) return;
    const succeeded = child.runtimeStatus === 'Completed';
    const output = child.output ?? 'null';
    const event: HistoryEvent = succeeded
      ? {
          ...eventNow(eventTypes.subOrchestrationInstanceCompleted),
          TaskScheduledId: child.parent.taskId,
          Result: output,
        }
      : {
          ...eventNow(eventTypes.subOrchestrationInstanceFailed),
          TaskScheduledId: child.parent.taskId,
          ...childFailure(child),
        };
    this.#takeResult(parent, child.parent.executionId, event);
  }

  #cancelTimers(instance: Instance): void {
    this.#timers.clear(`repeat/${instance.executionId}`);
    for (const event of instance.open.values()) this.#cancelTimer(instance, event.EventId);
  }

  #cancelTimer(instance: Instance, id: number): void {
    this.#timers.clear(timerName(instance, id));
  }

  #isCurrent(instance: Instance, executionId: string): boolean {
    return instance.executionId === executionId && this.#store.get(instance.instanceId) === instance;
  }
}
