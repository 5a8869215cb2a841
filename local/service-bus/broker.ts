/** Puts the broker together: queues, journal, port, faults. */
import { createFaults, type FaultPlan } from '../faults/index.js';
import { Dispatcher } from './amqp/dispatcher.js';
import { listen, stopListening, type Listener } from './amqp/listener.js';
import { checkRules, rootRule, type AuthorizationRule } from './auth/rules.js';
import { systemClock, type Clock } from './clock.js';
import type { QueueSettings } from './config/queue-settings.js';
import { readTopology } from './config/topology.js';
import { commitUnheard, type BrokerContext } from './context.js';
import { createCounters, type Counters } from './counters.js';
import { checkFaultPlan } from './faulty-operation.js';
import type { Namespace } from './queue/namespace.js';
import { openStore, type Store } from './storage/store.js';
import { createWakeups, type Wakeups } from './wakeups.js';
import { newLockToken } from './wire/lock-token.js';

/** How a broker is started. */
export interface BrokerOptions {
  /** Absent or 0: a free port. */
  readonly port?: number;
  /** Directory of this broker alone; created when missing. */
  readonly dataDirectory: string;
  /** 'never' survives a killed process, 'always' also a power failure. */
  readonly fsync: 'never' | 'always';
  /** infra/topology.json or the official emulator's Config.json, parsed. */
  readonly topology: unknown;
  /** Keys beside the root key. */
  readonly authorizationRules?: readonly AuthorizationRule[];
  readonly faults?: FaultPlan;
  /** Takes a line for each connection that ends because of an error; absent: standard error. */
  readonly log?: (line: string) => void;
  /** For tests that move time. */
  readonly clock?: Clock;
  /** For tests that fill queues: the part of `maxSizeInMegabytes` that they have. Absent: 1. */
  readonly sizeFactor?: number;
  /** Called once when nothing can be stored any more; absent: requests fail from then on. */
  readonly onStorageFailure?: (error: Error) => void;
}

/** A running broker. */
export interface Broker {
  readonly port: number;
  /** For clients of the whole namespace, with the root key. */
  readonly connectionString: string;
  /** What happened since the start, by queue and in all, and what the queues hold. */
  counters(): Record<string, number>;
  /** Replaces the fault rules; without a plan there are none. */
  setFaults(plan?: FaultPlan): void;
  close(): Promise<void>;
}

/** Starts a broker on 127.0.0.1. */
export async function startBroker(options: BrokerOptions): Promise<Broker> {
  const queues = readQueues(options);
  checkFaultPlan(options.faults);
  const counters = createCounters();
  const dispatcher = new Dispatcher();
  const store = await open(options, { queues, counters, dispatcher });
  try {
    const { context, wakeups } = createContext(options, store, counters);
    dispatcher.start(context);
    wakeups.consider(0);
    const listener = await listen(context, dispatcher, options.port ?? 0);
    let closed: Promise<void> | undefined;
    return createBroker(context, listener, () => (closed ??= stop(listener, wakeups, store)));
  } catch (error) {
    await store.close();
    throw error;
  }
}

function readQueues({ topology, sizeFactor = 1 }: BrokerOptions): readonly QueueSettings[] {
  return readTopology(topology).map((queue) => ({ ...queue, maxSizeBytes: queue.maxSizeBytes * sizeFactor }));
}

async function stop(listener: Listener, wakeups: Wakeups, store: Store): Promise<void> {
  await stopListening(listener);
  wakeups.stop();
  await store.close();
}

interface Parts {
  readonly queues: readonly QueueSettings[];
  readonly counters: Counters;
  readonly dispatcher: Dispatcher;
}

function open(options: BrokerOptions, { queues, counters, dispatcher }: Parts): Promise<Store> {
  const { clock = systemClock, dataDirectory, fsync } = options;
  return openStore({
    directory: dataDirectory,
    fsync,
    onFailure: options.onStorageFailure,
    queues,
    now: () => clock.now(),
    events: {
      ready: (queue) => {
        dispatcher.mark(queue);
      },
      count: (queue, event) => {
        counters.add(queue.name, event);
      },
      newLockToken,
    },
  });
}

function createContext(
  options: BrokerOptions,
  store: Store,
  counters: Counters,
): { context: BrokerContext; wakeups: Wakeups } {
  const { clock = systemClock, authorizationRules = [] } = options;
  const { namespace } = store;
  const rules = [rootRule, ...authorizationRules];
  checkRules(rules, (name) => namespace.find(name) !== undefined);
  const wakeups = createWakeups(clock, () => {
    const due = doWhatIsDue(namespace, clock.now());
    commitUnheard(store.commit());
    return due;
  });
  const context: BrokerContext = {
    clock,
    namespace,
    rules,
    faults: createFaults(options.faults),
    counters,
    log: options.log ?? writeToStandardError,
    commit: (queue) => {
      wakeups.consider(queue.nextDue());
      return store.commit();
    },
  };
  return { context, wakeups };
}

function writeToStandardError(line: string): void {
  process.stderr.write(`${line}\n`);
}

function createBroker(context: BrokerContext, listener: Listener, close: () => Promise<void>): Broker {
  const { namespace, counters, faults } = context;
  return {
    port: listener.port,
    connectionString: connectionString(listener.port),
    counters: () => ({
      ...counters.read(),
      ...gauges(namespace),
      ...faults.counters(),
      connections: listener.clients.size,
    }),
    setFaults: (plan) => {
      checkFaultPlan(plan);
      faults.replace(plan);
    },
    close,
  };
}

/** Where clients with `UseDevelopmentEmulator=true` look when the address has no port, as that of the official emulator. */
const usualPort = 5672;

function connectionString(port: number): string {
  const { keyName, key } = rootRule;
  const host = port === usualPort ? '127.0.0.1' : `127.0.0.1:${port}`;
  return `Endpoint=sb://${host};SharedAccessKeyName=${keyName};SharedAccessKey=${key};UseDevelopmentEmulator=true`;
}

function doWhatIsDue(namespace: Namespace, now: number): number {
  let next = Infinity;
  for (const queue of namespace.queues()) queue.expireDue(now);
  for (const queue of namespace.queues()) next = Math.min(next, queue.nextDue());
  return next;
}

function gauges(namespace: Namespace): Record<string, number> {
  const read: Record<string, number> = {};
  for (const queue of namespace.queues()) {
    if (queue.size > 0 || !queue.isDeadLetter) read[`${queue.name}.messages`] = queue.size;
    if (queue.lockedCount > 0) read[`${queue.name}.locked`] = queue.lockedCount;
  }
  return read;
}
