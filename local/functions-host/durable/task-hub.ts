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
import { createLimiter, type Limiter } from '../limiter.js';
import { createEffects, type Effects, type InvokeActivity } from './effects.js';
import { createFirstTurns, type FirstTurnFaults, type FirstTurns } from './first-turns.js';
import { eventTypes, type HistoryEvent } from './history.js';
import { isFinished, type Instance, type InstanceState, type RuntimeStatus } from './instance.js';
import { eventNow, newInstance, turnTime, type StartRequest } from './messages.js';
import type { LongTimerLimits } from './replay-actions.js';
import type { InstanceStore } from './store.js';
import { decideTurn, type InvokeOrchestrator, type TurnOutcome } from './turn.js';
import { waitingReport, type VersionOptions } from './versions.js';

/** What the task hub needs. */
export interface TaskHubOptions extends VersionOptions, FirstTurnFaults {
  readonly store: InstanceStore;
  readonly invokeOrchestrator: InvokeOrchestrator;
  readonly invokeActivity: InvokeActivity;
  readonly console: Console;
  readonly counters: Counters;
  readonly maxConcurrentActivities: number;
  readonly maxConcurrentOrchestrators: number;
  /** Whether starting the id of an active instance replaces it. */
  readonly canOverrideAnyState: boolean;
  isOrchestrator(name: string): boolean;
  /** Runs a turn, or does to it what a fault says. */
  disturbTurn<T>(orchestrator: string, turn: () => Promise<T>): Promise<T>;
  readonly longTimers?: LongTimerLimits;
}

export type StartOutcome =
  | { readonly kind: 'started'; readonly instanceId: string }
  | { readonly kind: 'alreadyActive'; readonly status: RuntimeStatus };

/** What became of a message to an instance. */
export type Delivery = 'accepted' | 'unknown' | 'finished';

interface TakenTurn {
  readonly executionId: string;
  readonly at: string;
  /** How many events of the inbox it took. */
  readonly taken: number;
  readonly outcome: TurnOutcome;
}

const dayMs = 86_400_000;
const azureStorageTimers: LongTimerLimits = { maximumMs: 6 * dayMs, intervalMs: 3 * dayMs };
const firstRepeatMs = 500;
const longestRepeatMs = 30_000;

/** The task hub while the host runs. */
export class TaskHub {
  readonly #options: TaskHubOptions;
  readonly #store: InstanceStore;
  readonly #effects: Effects;
  readonly #turns: Limiter;
  readonly #firstTurns: FirstTurns;
  /** Instances with a turn queued or running. */
  readonly #busy = new Set<Instance>();
  #isClosed = false;

  constructor(options: TaskHubOptions) {
    this.#options = options;
    this.#store = options.store;
    this.#effects = createEffects({
      ...options,
      isCurrent: (instance, executionId) => !this.#isClosed && this.#isCurrent(instance, executionId),
      isOrchestrator: (name) => options.isOrchestrator(name),
      takeResult: (instance, executionId, event) => {
        this.#takeResult(instance, executionId, event);
      },
      startChild: (instanceId, request) => {
        this.#whenSaved(this.#create(instanceId, request));
      },
    });
    this.#turns = createLimiter(options.maxConcurrentOrchestrators);
    this.#firstTurns = createFirstTurns(options, (instance) => {
      this.#wake(instance);
    });
  }

  /** Takes up what a former host left (H3). */
  recover(): void {
    for (const instance of [...this.#store.running()]) {
      for (const event of [...instance.open.values()]) this.#effects.send(instance, event);
      this.#firstTurns.begin(instance);
    }
  }

  async start(request: StartRequest): Promise<StartOutcome> {
    const instanceId = request.instanceId ?? randomUUID().replaceAll('-', '');
    const active = this.#store.get(instanceId);
    if (active !== undefined && !this.#options.canOverrideAnyState) {
      await this.#store.whenDurable();
      return { kind: 'alreadyActive', status: active.runtimeStatus };
    }
    if (active !== undefined) this.#effects.cancelTimers(active);
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

  /** Removes a finished instance. */
  async purge(instanceId: string): Promise<'purged' | 'running' | 'unknown'> {
    if (this.#store.get(instanceId) !== undefined) return 'running';
    if (!this.#store.isFinished(instanceId)) return 'unknown';
    await this.#store.purge(instanceId);
    return 'purged';
  }

  /** Starts nothing new, and waits for the turns and activities that run. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([this.#turns.close(), this.#effects.close()]);
  }

  #create(instanceId: string, request: StartRequest): Promise<void> {
    const { instance, saved } = this.#store.create(newInstance(instanceId, request, this.#options.defaultVersion));
    this.#options.counters.add('orchestrations.started');
    this.#firstTurns.begin(instance);
    return saved;
  }

  async #deliver(instanceId: string, event: HistoryEvent): Promise<Delivery> {
    const instance = this.#store.get(instanceId);
    if (instance === undefined) return this.#missing(instanceId);
    await this.#receive(instance, event); // H1
    return 'accepted';
  }

  /** What is said of an instance that takes nothing has to be durable too, or a crash would make it untrue. */
  async #missing(instanceId: string): Promise<Delivery> {
    const isFinishedInstance = this.#store.isFinished(instanceId);
    await this.#store.whenDurable();
    return isFinishedInstance ? 'finished' : 'unknown';
  }

  #receive(instance: Instance, event: HistoryEvent): Promise<void> {
    const saved = this.#store.receive(instance, event);
    this.#wake(instance);
    return saved;
  }

  async #control(instanceId: string, event: HistoryEvent, status: RuntimeStatus): Promise<Delivery> {
    const instance = this.#store.get(instanceId);
    if (instance === undefined) return this.#missing(instanceId);
    const saved = this.#store.control(instance, event, status);
    if (isFinished(status)) this.#finished(instance);
    else this.#wake(instance);
    await saved;
    return 'accepted';
  }

  /** Queues a turn when there is something to do for the instance and none is queued (H5). */
  #wake(instance: Instance, repeatMs = firstRepeatMs): void {
    const isSuspended = instance.runtimeStatus === 'Suspended';
    const isIdle = instance.inbox.length === 0 || isSuspended || this.#firstTurns.isHeld(instance);
    if (isIdle || this.#isClosed || this.#busy.has(instance) || this.#waitsForVersion(instance)) return;
    this.#busy.add(instance);
    this.#turns.run(() => this.#turn(instance, repeatMs));
  }

  #waitsForVersion(instance: Instance): boolean {
    const report = waitingReport(instance, this.#options);
    if (report === undefined) return false;
    this.#options.console.warning(report);
    return true;
  }

  async #turn(instance: Instance, repeatMs: number): Promise<void> {
    try {
      await this.#runTurn(instance);
    } catch (error) {
      this.#options.console.error(
        `Orchestration '${instance.instanceId}' (${instance.name}) could not run; next try in ${repeatMs} ms: ` +
          (error instanceof Error ? error.message : String(error)),
      );
      this.#effects.timers.set(`repeat/${instance.executionId}`, Date.now() + repeatMs, () => {
        this.#busy.delete(instance);
        this.#wake(instance, Math.min(repeatMs * 2, longestRepeatMs));
      });
      return;
    }
    this.#busy.delete(instance);
    if (this.#store.get(instance.instanceId) === instance) this.#wake(instance);
  }

  async #runTurn(instance: Instance): Promise<void> {
    const turn = await this.#options.disturbTurn(instance.name, () => this.#takeTurn(instance));
    if (turn !== undefined && this.#isCurrent(instance, turn.executionId)) this.#save(instance, turn);
  }

  /** A turn takes all that has arrived when it begins; undefined if the instance is over or suspended by then. */
  async #takeTurn(instance: Instance): Promise<TakenTurn | undefined> {
    const { executionId } = instance;
    if (!this.#isCurrent(instance, executionId) || instance.runtimeStatus === 'Suspended') return undefined;
    const batch = [...instance.inbox];
    const at = turnTime(instance, batch);
    this.#options.counters.add('orchestrator.turns');
    const { longTimers = azureStorageTimers } = this.#options;
    const outcome = await decideTurn({ instance, batch, at, longTimers }, this.#options);
    return { executionId, at, taken: batch.length, outcome };
  }

  /** The next turn may begin before this one is durable: the journal keeps their order. */
  #save(instance: Instance, { outcome, at, taken }: TakenTurn): void {
    if (outcome.kind === 'continueAsNew') {
      const executionId = randomUUID().replaceAll('-', '');
      this.#whenSaved(this.#store.continueAsNew(instance, { ...outcome, at, taken, executionId }));
      return;
    }
    const { change } = outcome;
    for (const id of change.cancelled) {
      this.#options.counters.add('timers.cancelled');
      this.#effects.cancelTimer(instance, id);
    }
    for (const event of change.scheduled) {
      if (event.EventType === eventTypes.timerCreated) this.#options.counters.add('timers.created');
    }
    const saved = this.#store.turn(instance, change);
    if (isFinished(change.status)) this.#finished(instance);
    const { executionId } = instance;
    const sendAll = (): void => {
      if (!this.#isCurrent(instance, executionId)) return;
      for (const event of change.scheduled) if (instance.open.has(event.EventId)) this.#effects.send(instance, event);
    };
    this.#whenSaved(saved, sendAll); // H2
  }

  /** What cannot be stored can only be reported: the journal then refuses everything that follows. */
  #whenSaved(saved: Promise<void>, next?: () => void): void {
    saved.then(next, (error: unknown) => {
      this.#options.console.error(`The task hub cannot store its state: ${String(error)}`);
    });
  }

  /** H4 */
  #takeResult(instance: Instance, executionId: string, event: HistoryEvent): void {
    const taskId = event.TaskScheduledId ?? event.TimerId ?? -1;
    if (!this.#isCurrent(instance, executionId) || !instance.open.has(taskId)) return;
    this.#whenSaved(this.#receive(instance, event));
  }

  #finished(instance: Instance): void {
    this.#options.counters.add(`orchestrations.${instance.runtimeStatus.toLowerCase()}`);
    this.#effects.cancelTimers(instance);
    this.#effects.tellParent(instance);
  }

  #isCurrent(instance: Instance, executionId: string): boolean {
    return instance.executionId === executionId && this.#store.get(instance.instanceId) === instance;
  }
}
