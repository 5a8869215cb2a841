/** Wires an app into the host: its functions, the task hub, the triggers and what answers HTTP requests. */
import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import type { Faults } from '../faults/index.js';
import { createAdmin } from './admin.js';
import { loadApp } from './app-loader.js';
import { bindFunctions, type BoundFunction } from './bindings.js';
import type { Console } from './console.js';
import { installCoreModule } from './core-module.js';
import type { Counters } from './counters.js';
import { createDeterminismGuard } from './determinism-guard.js';
import { createDurableFunctions } from './durable/functions.js';
import { createDurableApi } from './durable/http-api.js';
import { clientBindingJson } from './durable/management-urls.js';
import type { HostKeys } from './durable/records.js';
import type { InstanceStore } from './durable/store.js';
import { TaskHub } from './durable/task-hub.js';
import { withFault } from './faults.js';
import { readHostJson, type HostOptions } from './host-json.js';
import type { Routes } from './http-server.js';
import { createInvoker, type Invoke, type InvocationOutcome } from './invocation.js';
import { createRegistry, type Registry } from './registry.js';
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
  /** Runs the app's own hooks for the end. */
  terminate(): Promise<void>;
}

/** Loads the app and wires it; rejects with what is wrong with it. */
export async function wireApp(host: AppSurroundings, directory: string): Promise<WiredApp> {
  const { console, counters, faults, variables, store, origin } = host;
  const appDirectory = resolve(directory);
  const options = readHostJson(appDirectory, variables);
  for (const report of options.reports) console.warning(report);
  const appHookData = {};
  const registry = await loadFunctions(console, appDirectory, appHookData);
  const enabled = [...registry.functions.values()].filter(({ metadata }) => !isDisabled(metadata.name, variables));
  const functions = bindFunctions(enabled);
  const { functionTimeoutMs } = options;
  const invoke = faultyInvoke(faults, createInvoker({ registry, console, counters, appHookData, functionTimeoutMs }));
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
  const watch = createDeterminismGuard(console, counters);
  const durable = createDurableFunctions({ functions, invoke, faults, watch });
  const hub = new TaskHub({ ...durable, ...options.durableTask, store, console, counters });
  return {
    keys,
    routes: {
      routePrefix: options.routePrefix.split('/').filter((segment) => segment !== ''),
      http: (request, path, body) => triggers.http.handle(request, path, body),
      durable: createDurableApi({ hub, faults, urls, isOrchestrator: (name) => durable.isOrchestrator(name) }),
      admin: appAdmin(host, registry, { triggers, routePrefix: options.routePrefix }),
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
    terminate: async () => {
      for (const hook of registry.hooks('appTerminate')) await hook({ hookData: {}, appHookData });
    },
  };
}

function appAdmin(
  { origin, variables }: AppSurroundings,
  registry: Registry,
  { triggers, routePrefix }: { readonly triggers: Triggers; readonly routePrefix: string },
): Routes['admin'] {
  return createAdmin({
    origin,
    routePrefix,
    functions: [...registry.functions.values()].map(({ metadata }) => metadata),
    isDisabled: (name) => isDisabled(name, variables),
    invoker: (name) => triggers.invoker(name),
  });
}

async function loadFunctions(console: Console, appDirectory: string, appHookData: object): Promise<Registry> {
  const registry = createRegistry((level, _category, message) => {
    if (level !== 'debug' && level !== 'trace') console.functionLog(level, message, 'app');
  });
  installCoreModule(registry.coreApi);
  await loadApp(appDirectory);
  for (const hook of registry.hooks('appStart')) {
    await hook({ functionAppDirectory: appDirectory, hookData: {}, appHookData });
  }
  registry.lock();
  if (registry.functions.size === 0) {
    throw new Error(
      `The app in ${appDirectory} registers no functions. Does package.json "main" name the right files?`,
    );
  }
  const capabilities = await registry.programmingModel().getCapabilities({ RawHttpBodyBytes: 'true' });
  if (capabilities['HttpUri'] !== undefined) {
    throw new Error(
      'HTTP streaming (app.setup enableHttpStream) is not supported by the local Functions host. Leave it off.',
    );
  }
  return registry;
}

function faultyInvoke(faults: Faults, invoke: Invoke): Invoke {
  const dropped = (): InvocationOutcome => ({ result: undefined, response: {} });
  return (request) =>
    withFault(faults, { operation: 'invoke', entity: request.fn.metadata.name, dropped }, () => invoke(request));
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
    const route = typeof trigger['route'] === 'string' ? trigger['route'] : fn.metadata.name;
    const methods = Array.isArray(trigger['methods']) ? `[${trigger['methods'].join(',')}] ` : '';
    const url = `${methods}${[origin, options.routePrefix, route].filter((part) => part !== '').join('/')}`;
    console.line(`  ${fn.metadata.name}: ${kind === 'httpTrigger' ? url : kind}`);
  }
}
