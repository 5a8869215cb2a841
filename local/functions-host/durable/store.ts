/**
 * The instances of the task hub in memory and in the journal. Every change is made in both in one step, so the journal
 * has them in the order in which they happened; the returned promise resolves when the change survives a crash.
 */
import { openJournal, type Journal } from '../../journal/index.js';
import { createFinishedInstances, type FinishedInstances } from './finished-instances.js';
import {
  addToInbox,
  applyControl,
  applyTurn,
  continueAsNew,
  instanceState,
  isFinished,
  openInstance,
  type Instance,
  type InstanceState,
  type RuntimeStatus,
  type TurnChange,
} from './instance.js';
import {
  applyStoredChange,
  decodeRecord,
  encodeRecord,
  type HostKeys,
  type JournalRecord,
  type StoredChange,
  type TimerStatus,
} from './records.js';
import type { HistoryEvent } from './history.js';

/** Where the journal lies and how it writes. */
export interface StoreOptions {
  readonly directory: string;
  readonly fsync: 'never' | 'always';
  /** Size of the journal from which it is compacted; absent: the journal's own default. */
  readonly compactAfterBytes?: number;
  readonly onFailure?: ((error: Error) => void) | undefined;
}

/** Opens the store; a second host on the same directory is refused. */
export async function openStore(options: StoreOptions): Promise<InstanceStore> {
  const memory: Memory = {
    running: new Map(),
    finished: createFinishedInstances(),
    timers: new Map(),
    keys: undefined,
  };
  const journal = await openJournal({
    ...options,
    replay: (bytes) => {
      replay(memory, decodeRecord(bytes));
    },
    snapshot: () => snapshot(memory),
  });
  return new InstanceStore(memory, journal);
}

interface Memory {
  readonly running: Map<string, Instance>;
  readonly finished: FinishedInstances;
  readonly timers: Map<string, TimerStatus>;
  keys: HostKeys | undefined;
}

/** The store while it is open. */
export class InstanceStore {
  readonly #memory: Memory;
  readonly #journal: Journal;
  /** The latest append: what it resolves after is everything that was changed so far. */
  #lastAppend: Promise<void> = Promise.resolve();

  constructor(memory: Memory, journal: Journal) {
    this.#memory = memory;
    this.#journal = journal;
  }

  /** Resolves when everything changed so far is durable. */
  whenDurable(): Promise<void> {
    return this.#lastAppend;
  }

  running(): Iterable<Instance> {
    return this.#memory.running.values();
  }

  get(instanceId: string): Instance | undefined {
    return this.#memory.running.get(instanceId);
  }

  isFinished(instanceId: string): boolean {
    return this.#memory.finished.has(instanceId);
  }

  state(instanceId: string): InstanceState | undefined {
    const running = this.#memory.running.get(instanceId);
    return running === undefined ? this.#memory.finished.get(instanceId) : instanceState(running);
  }

  *ids(): Iterable<string> {
    yield* this.#memory.running.keys();
    yield* this.#memory.finished.ids();
  }

  /** Adds an instance; one that had its id is replaced. */
  create(state: InstanceState): { readonly instance: Instance; readonly saved: Promise<void> } {
    const instance = openInstance(state);
    this.#memory.finished.delete(state.instanceId);
    this.#memory.running.set(state.instanceId, instance);
    return { instance, saved: this.#append({ k: 'instance', state }) };
  }

  receive(instance: Instance, event: HistoryEvent): Promise<void> {
    addToInbox(instance, event);
    return this.#append({ k: 'inbox', ...change(instance), event });
  }

  control(instance: Instance, event: HistoryEvent, status: RuntimeStatus): Promise<void> {
    applyControl(instance, event, status);
    if (isFinished(status)) retire(this.#memory, instance);
    return this.#append({ k: 'control', ...change(instance), event, status });
  }

  turn(instance: Instance, turnChange: TurnChange): Promise<void> {
    applyTurn(instance, turnChange);
    if (isFinished(turnChange.status)) retire(this.#memory, instance);
    return this.#append({ k: 'turn', ...change(instance), change: turnChange });
  }

  continueAsNew(instance: Instance, next: Parameters<typeof continueAsNew>[1]): Promise<void> {
    continueAsNew(instance, next);
    return this.#append({ k: 'instance', state: instanceState(instance) });
  }

  purge(instanceId: string): Promise<void> {
    this.#memory.finished.delete(instanceId);
    return this.#append({ k: 'purge', i: instanceId });
  }

  timerStatus(name: string): TimerStatus | undefined {
    return this.#memory.timers.get(name);
  }

  saveTimerStatus(name: string, status: TimerStatus): Promise<void> {
    this.#memory.timers.set(name, status);
    return this.#append({ k: 'timer', name, status });
  }

  keys(): HostKeys | undefined {
    return this.#memory.keys;
  }

  saveKeys(keys: HostKeys): Promise<void> {
    this.#memory.keys = keys;
    return this.#append({ k: 'keys', keys });
  }

  close(): Promise<void> {
    return this.#journal.close();
  }

  #append(record: JournalRecord): Promise<void> {
    this.#lastAppend = this.#journal.append(encodeRecord(record));
    return this.#lastAppend;
  }
}

function change(instance: Instance): { i: string; x: string; v: number } {
  return { i: instance.instanceId, x: instance.executionId, v: instance.revision };
}

function retire(memory: Memory, instance: Instance): void {
  memory.running.delete(instance.instanceId);
  memory.finished.add(instance);
}

function replay(memory: Memory, record: JournalRecord): void {
  switch (record.k) {
    case 'instance':
      replayInstance(memory, record.state);
      return;
    case 'inbox':
    case 'control':
    case 'turn':
      replayChange(memory, record);
      return;
    case 'purge':
      memory.running.delete(record.i);
      memory.finished.delete(record.i);
      return;
    case 'timer':
      memory.timers.set(record.name, record.status);
      return;
    case 'keys':
      memory.keys = record.keys;
  }
}

function replayChange(memory: Memory, record: StoredChange): void {
  const instance = memory.running.get(record.i);
  if (instance === undefined || !applyStoredChange(instance, record)) return;
  if (isFinished(instance.runtimeStatus)) retire(memory, instance);
}

function replayInstance(memory: Memory, state: InstanceState): void {
  memory.running.delete(state.instanceId);
  memory.finished.delete(state.instanceId);
  const instance = openInstance(state);
  if (isFinished(state.runtimeStatus)) memory.finished.add(instance);
  else memory.running.set(state.instanceId, instance);
}

/**
 * Each record is made when it is asked for, so it holds the state of that moment. Running instances come first: one that
 * finishes meanwhile is found among the finished ones, which come after.
 */
function* snapshot(memory: Memory): Iterable<Buffer> {
  if (memory.keys !== undefined) yield encodeRecord({ k: 'keys', keys: memory.keys });
  for (const [name, status] of memory.timers) yield encodeRecord({ k: 'timer', name, status });
  for (const instance of memory.running.values()) {
    yield encodeRecord({ k: 'instance', state: instanceState(instance) });
  }
  for (const instanceId of memory.finished.ids()) {
    const state = memory.finished.get(instanceId);
    if (state !== undefined) yield encodeRecord({ k: 'instance', state });
  }
}
