/** Starts the triggers of an app's functions, and stops them. */
import { randomUUID } from 'node:crypto';
import type { BoundFunction } from './bindings.js';
import type { Console } from './console.js';
import type { TypedData } from './core-api.js';
import type { HostKeys } from './durable/records.js';
import type { HostOptions } from './host-json.js';
import type { Invoke } from './invocation.js';
import { parseSchedule, type Schedule } from './ncrontab.js';
import { readSetting, resolveConnection, resolveExpressions, type Variables } from './settings.js';
import { createTimers } from './timers.js';
import { createHttpTriggers, type HttpTriggers } from './triggers/http.js';
import type { ServiceBusTriggerOptions, ServiceBusTriggers } from './triggers/service-bus.js';
import { startTimerTrigger, type TimerStatusStore, type TimerTrigger } from './triggers/timer.js';

/** What triggers need of the host. */
export interface TriggerOptions {
  readonly functions: readonly BoundFunction[];
  readonly invoke: Invoke;
  readonly console: Console;
  readonly options: HostOptions;
  readonly variables: Variables;
  readonly keys: HostKeys;
  readonly status: TimerStatusStore;
  /** JSON text for durable client bindings. */
  readonly durableClient: string;
}

/** The triggers while the host runs. */
export interface Triggers {
  readonly http: HttpTriggers;
  /** Begins to take messages and to tick. */
  start(): void;
  /** Runs a function by hand; undefined when its trigger has no such way. */
  invoker(name: string): ((input: unknown) => Promise<void>) | undefined;
  close(): Promise<void>;
}

type Inputs = readonly { readonly name: string; readonly data: TypedData }[];

/** Checks and prepares all triggers; throws what is wrong with the first bad one. */
export async function createTriggers(host: TriggerOptions): Promise<Triggers> {
  const timers = createTimers();
  const http = createHttpTriggers(host.invoke, host.keys);
  const serviceBus = await createServiceBus(host);
  const ticking = new Map<string, TimerTrigger>();
  const starts: (() => void)[] = [];
  const byHand = new Map<string, (input: unknown) => Promise<void>>();

  for (const bound of host.functions) {
    const { name } = bound.fn;
    const extraInputs = durableClientInputs(bound, host.durableClient);
    if (bound.kind === 'httpTrigger') http.add(httpFunction(bound, extraInputs));
    if (bound.kind === 'serviceBusTrigger') {
      const trigger = serviceBusTrigger(host, bound, extraInputs);
      starts.push(() => {
        serviceBus?.start(trigger);
      });
      byHand.set(name, (input) => invokeWithMessage(host, bound, extraInputs, input));
    }
    if (bound.kind === 'timerTrigger') {
      assertUtc(name, host.variables);
      const text = resolveExpressions(String(bound.trigger['schedule']), `Timer "${name}"`, host.variables);
      const schedule = parseSchedule(text);
      starts.push(() => ticking.set(name, startTimer({ host, bound, schedule, timers, extraInputs })));
      byHand.set(name, () => ticking.get(name)?.runNow() ?? Promise.resolve());
    }
  }

  return {
    http,
    start: () => {
      for (const start of starts) start();
    },
    invoker: (name) => byHand.get(name),
    close: async () => {
      await Promise.all([serviceBus?.close(), ...[...ticking.values()].map((timer) => timer.close())]);
    },
  };
}

function assertUtc(name: string, variables: Variables): void {
  const zone = readSetting('WEBSITE_TIME_ZONE', variables) ?? 'UTC';
  if (zone === 'UTC' || zone === '') return;
  throw new Error(`Timer "${name}": the local Functions host knows schedules in UTC only. Unset WEBSITE_TIME_ZONE.`);
}

/** The client library takes long to load, so only an app that needs it pays for it. */
async function createServiceBus(host: TriggerOptions): Promise<ServiceBusTriggers | undefined> {
  if (!host.functions.some(({ kind }) => kind === 'serviceBusTrigger')) return undefined;
  const { createServiceBusTriggers } = await import('./triggers/service-bus.js');
  return createServiceBusTriggers({ ...host, ...host.options.serviceBus });
}

function durableClientInputs({ durableClients }: BoundFunction, json: string): Inputs {
  return durableClients.map((name) => ({ name, data: { json } }));
}

function httpFunction(bound: BoundFunction, extraInputs: Inputs): Parameters<HttpTriggers['add']>[0] {
  const { route, methods, authLevel } = bound.trigger;
  return {
    fn: bound.fn,
    bindingName: bound.triggerName,
    extraInputs,
    route: typeof route === 'string' ? route : bound.fn.name,
    methods: Array.isArray(methods) ? methods.map((method) => String(method).toUpperCase()) : ['GET', 'POST'],
    authLevel: authLevel === 'function' || authLevel === 'admin' ? authLevel : 'anonymous',
  };
}

function serviceBusTrigger(host: TriggerOptions, bound: BoundFunction, extraInputs: Inputs): ServiceBusTriggerOptions {
  const usedBy = `Service Bus trigger "${bound.fn.name}"`;
  const { queueName, connection, dataType, autoCompleteMessages } = bound.trigger;
  return {
    fn: bound.fn,
    bindingName: bound.triggerName,
    extraInputs,
    connectionString: resolveConnection(connection, usedBy, host.variables),
    queueName: resolveExpressions(String(queueName), usedBy, host.variables),
    bodyType: dataType === 'binary' || dataType === 'stream' ? 'bytes' : 'text',
    autoComplete:
      typeof autoCompleteMessages === 'boolean' ? autoCompleteMessages : host.options.serviceBus.autoCompleteMessages,
  };
}

async function invokeWithMessage(
  host: TriggerOptions,
  bound: BoundFunction,
  extraInputs: Inputs,
  input: unknown,
): Promise<void> {
  const text = typeof input === 'string' ? input : JSON.stringify(input ?? null);
  const trigger = { name: bound.triggerName, data: { string: text } };
  const triggerMetadata = { MessageId: { string: randomUUID() }, DeliveryCount: { json: '1' } };
  await host.invoke({ fn: bound.fn, inputs: [trigger, ...extraInputs], triggerMetadata }).catch(() => undefined);
}

function startTimer({
  host,
  bound,
  schedule,
  timers,
  extraInputs,
}: {
  readonly host: TriggerOptions;
  readonly bound: BoundFunction;
  readonly schedule: Schedule;
  readonly timers: ReturnType<typeof createTimers>;
  readonly extraInputs: Inputs;
}): TimerTrigger {
  return startTimerTrigger({
    fn: bound.fn,
    bindingName: bound.triggerName,
    extraInputs,
    schedule,
    runOnStartup: bound.trigger['runOnStartup'] === true,
    useMonitor: bound.trigger['useMonitor'] !== false,
    invoke: host.invoke,
    timers,
    status: host.status,
    console: host.console,
  });
}
