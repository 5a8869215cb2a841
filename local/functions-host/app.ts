/** Wires an app into the host: its functions, the task hub, the triggers and what answers HTTP requests. */
import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import type { Faults } from '../faults/index.js';
import { createAdmin } from './admin.js';
import { bindFunctions, type BoundFunction } from './bindings.js';
import type { Console } from './console.js';
import type { FunctionMetadata } from './core-api.js';
import type { Counters } from './counters.js';
import { createDurableFunctions } from './durable/functions.js';
import { createDurableApi } from './durable/http-api.js';
import { clientBindingJson } from './durable/management-urls.js';
import type { HostKeys } from './durable/records.js';
import type { InstanceStore } from './durable/store.js';
import { TaskHub } from './durable/task-hub.js';
import { readHostJson, type HostOptions } from './host-json.js';
import type { Routes } from './http-server.js';
import { createInvoker } from './invocation.js';
import { NodeWorker } from './node-worker.js';
import { isDisabled, readSetting, type Variables } from './settings.js';
import { createTriggers, type Triggers } from './triggers.js';

/** What the host gives the app. */
export interface AppSurroundings {
  readonly console: Console;
  readonly counters: Counters;
  readonly faults: Faults;
  readonly variables: Variables;
  readonly store: InstanceStore;
  /** URL of the host without a path. */
  readonly origin: string;
}

/** An app, ready to run. */
export interface WiredApp {
  readonly keys: HostKeys;
  readonly routes: Routes;
  /** Takes up what a former host left, and starts the triggers. */
  start(): void;
  /** Takes nothing new and resolves when what runs is done. */
  drain(): Promise<void>;
  /** Lets the app run its own hooks for the end, and ends its worker. */
  terminate(): Promise<void>;
}

/** Loads the app and wires it; rejects with what is wrong with it. */
export async function wireApp(host: AppSurroundings, directory: string): Promise<WiredApp> {
  const { console, counters, variables } = host;
  const appDirectory = resolve(directory);
  const options = readHostJson(appDirectory, variables);
  for (const report of options.reports) console.warning(report);
  const worker = await NodeWorker.start({ appDirectory, variables, console, counters });
  try {
    return await wireFunctions({ ...host, options }, worker);
  } catch (error) {
    await worker.close();
    throw error;
  }
}

async function wireFunctions(
  host: AppSurroundings & { readonly options: HostOptions },
  worker: NodeWorker,
): Promise<WiredApp> {
  const { console, counters, faults, variables, store, origin, options } = host;
  const functions = bindFunctions(worker.functions.filter(({ name }) => !isDisabled(name, variables)));
  const { functionTimeoutMs } = options;
  const invoke = createInvoker({ worker, console, counters, faults, functionTimeoutMs });
  const keys = await hostKeys(store, variables);
  const urls = { origin, taskHub: options.durableTask.hubName, key: keys.durableTask };
  const durableClient = clientBindingJson(urls);
  const triggers = await createTriggers({
    functions,
    invoke,
    console,
    variables,
    keys,
    options,
    durableClient,
    status: store,
  });
  const durable = createDurableFunctions({ functions, invoke, faults });
  const hub = new TaskHub({ ...durable, ...options.durableTask, store, console, counters });
  return {
    keys,
    routes: {
      routePrefix: options.routePrefix.split('/').filter((segment) => segment !== ''),
      http: (request, path, body) => triggers.http.handle(request, path, body),
      durable: createDurableApi({ hub, faults, urls, isOrchestrator: (name) => durable.isOrchestrator(name) }),
      admin: appAdmin(host, worker.functions, { triggers, routePrefix: options.routePrefix }),
      isDurableKey: (key) => key === keys.durableTask || key === keys.master,
    },
    start: () => {
      hub.recover();
      triggers.start();
      listFunctions(console, functions, { origin, options });
    },
    drain: async () => {
      await Promise.all([triggers.close(), hub.close()]);
    },
    terminate: () => worker.close(),
  };
}

function appAdmin(
  { origin, variables }: AppSurroundings,
  functions: readonly FunctionMetadata[],
  { triggers, routePrefix }: { readonly triggers: Triggers; readonly routePrefix: string },
): Routes['admin'] {
  return createAdmin({
    origin,
    routePrefix,
    functions,
    isDisabled: (name) => isDisabled(name, variables),
    invoker: (name) => triggers.invoker(name),
  });
}

/** Keys given as settings, else the stored ones, else new ones. */
async function hostKeys(store: InstanceStore, variables: Variables): Promise<HostKeys> {
  const stored = store.keys() ?? { master: newKey(), host: newKey(), durableTask: newKey() };
  if (store.keys() === undefined) await store.saveKeys(stored);
  return {
    ...stored,
    master: readSetting('FunctionsHost:MasterKey', variables) ?? stored.master,
    host: readSetting('FunctionsHost:FunctionKey', variables) ?? stored.host,
  };
}

function newKey(): string {
  return randomBytes(24).toString('base64url');
}

function listFunctions(
  console: Console,
  functions: readonly BoundFunction[],
  { origin, options }: { readonly origin: string; readonly options: HostOptions },
): void {
  console.line('Functions:');
  for (const { fn, kind, trigger } of functions) {
    const route = typeof trigger['route'] === 'string' ? trigger['route'] : fn.name;
    const methods = Array.isArray(trigger['methods']) ? `[${trigger['methods'].join(',')}] ` : '';
    const url = `${methods}${[origin, options.routePrefix, route].filter((part) => part !== '').join('/')}`;
    console.line(`  ${fn.name}: ${kind === 'httpTrigger' ? url : kind}`);
  }
}
