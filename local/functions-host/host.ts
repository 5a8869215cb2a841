/** Puts the host together: settings, HTTP server, store, app, triggers; and takes it apart again in order. */
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createFaults, type FaultPlan, type Faults } from '../faults/index.js';
import { createAdmin } from './admin.js';
import { loadApp } from './app-loader.js';
import { bindFunctions, type BoundFunction } from './bindings.js';
import { createConsole, type Console } from './console.js';
import { installCoreModule } from './core-module.js';
import { createCounters, type Counters } from './counters.js';
import { createDurableFunctions } from './durable/functions.js';
import { createDurableApi } from './durable/http-api.js';
import { clientBindingJson } from './durable/management-urls.js';
import type { HostKeys } from './durable/records.js';
import { openStore, type InstanceStore } from './durable/store.js';
import { TaskHub } from './durable/task-hub.js';
import { withFault } from './faults.js';
import { readHostJson, type HostOptions } from './host-json.js';
import { startHttpServer, type HttpServer } from './http-server.js';
import type { FunctionsHost, FunctionsHostOptions } from './types.js';
import { createInvoker, type Invoke, type InvocationOutcome } from './invocation.js';
import { createRegistry, type Registry } from './registry.js';
import { applySettings, isDisabled, readSetting, type Variables } from './settings.js';
import { createTriggers, type Triggers } from './triggers.js';

/** How long a stop waits for functions that run. */
const drainMs = 30_000;

interface Base {
  readonly options: FunctionsHostOptions;
  readonly console: Console;
  readonly counters: Counters;
  readonly faults: Faults;
  readonly variables: Variables;
  readonly server: HttpServer;
  readonly store: InstanceStore;
}

/** Starts the host; rejects with what is wrong with the app, its settings or its surroundings. */
export async function startHost(options: FunctionsHostOptions): Promise<FunctionsHost> {
  const console = createConsole(options.log);
  applySettings(options.settings);
  const server = await startHttpServer(options.port ?? 0, console);
  try {
    setHostVariables(server.port);
    const store = await openHostStore(options);
    const faults = createFaults(options.faults);
    const base = { options, console, counters: createCounters(), faults, variables: process.env, server, store };
    return await startApp(base).catch(async (error: unknown) => {
      await store.close();
      throw error;
    });
  } catch (error) {
    await server.close();
    throw error;
  }
}

async function startApp(base: Base): Promise<FunctionsHost> {
  const { console, counters, faults, variables, store, server } = base;
  const appDirectory = resolve(base.options.appDirectory);
  const hostOptions = readHostJson(appDirectory, variables);
  for (const report of hostOptions.reports) console.warning(report);
  const appHookData = {};
  const registry = await loadFunctions(base, appDirectory, appHookData);
  const enabled = [...registry.functions.values()].filter(({ metadata }) => !isDisabled(metadata.name, variables));
  const functions = bindFunctions(enabled);
  const invoke = faultyInvoke(faults, createInvoker({ registry, console, counters, appHookData }));
  const keys = await hostKeys(store, variables);
  const origin = `http://127.0.0.1:${server.port}`;
  const urls = { origin, taskHub: hostOptions.durableTask.hubName, key: keys.durableTask };
  const triggers = createTriggers({
    ...{ functions, invoke, console, variables, keys, status: store, options: hostOptions },
    durableClient: clientBindingJson(urls),
  });
  const durable = createDurableFunctions({ functions, invoke, faults });
  const hub = new TaskHub({ ...durable, ...hostOptions.durableTask, store, console, counters });
  const admin = createAdmin({
    ...{ origin, routePrefix: hostOptions.routePrefix },
    functions: [...registry.functions.values()].map(({ metadata }) => metadata),
    isDisabled: (name) => isDisabled(name, variables),
    invoker: (name) => triggers.invoker(name),
  });
  server.serve({
    routePrefix: hostOptions.routePrefix.split('/').filter((segment) => segment !== ''),
    http: (request, path, body) => triggers.http.handle(request, path, body),
    durable: createDurableApi({ hub, faults, urls, isOrchestrator: (name) => durable.isOrchestrator(name) }),
    admin,
    isDurableKey: (key) => key === keys.durableTask || key === keys.master,
  });
  hub.recover();
  triggers.start();
  listFunctions(console, functions, { origin, hostOptions });
  return {
    port: server.port,
    url: origin,
    keys: { master: keys.master, function: keys.host },
    counters: () => ({ ...counters.all(), ...prefixed(faults.counters()) }),
    setFaults: (plan?: FaultPlan) => {
      faults.replace(plan);
    },
    close: () => stop({ ...base, triggers, hub, registry, appHookData }),
  };
}

async function loadFunctions(base: Base, appDirectory: string, appHookData: object): Promise<Registry> {
  const { console } = base;
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
  await registry.programmingModel().getCapabilities({ RawHttpBodyBytes: 'true' });
  return registry;
}

function faultyInvoke(faults: Faults, invoke: Invoke): Invoke {
  const dropped = (): InvocationOutcome => ({ result: undefined, response: {} });
  return (request) =>
    withFault(faults, { operation: 'invoke', entity: request.fn.metadata.name, dropped }, () => invoke(request));
}

/** What Azure sets for the app; the durable client needs WEBSITE_HOSTNAME to leave the URLs alone. */
function setHostVariables(port: number): void {
  process.env['WEBSITE_HOSTNAME'] = `127.0.0.1:${port}`;
  process.env['WEBSITE_SITE_NAME'] ??= 'local';
  process.env['WEBSITE_INSTANCE_ID'] ??= 'local';
  process.env['AZURE_FUNCTIONS_ENVIRONMENT'] ??= 'Development';
  process.env['FUNCTIONS_WORKER_RUNTIME'] ??= 'node';
}

async function openHostStore({ dataDirectory, fsync }: FunctionsHostOptions): Promise<InstanceStore> {
  const directory = join(dataDirectory, 'task-hub');
  mkdirSync(directory, { recursive: true });
  return openStore({ directory, fsync });
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
  { origin, hostOptions }: { readonly origin: string; readonly hostOptions: HostOptions },
): void {
  console.line('Functions:');
  for (const { fn, kind, trigger } of functions) {
    const route = typeof trigger['route'] === 'string' ? trigger['route'] : fn.metadata.name;
    const methods = Array.isArray(trigger['methods']) ? `[${trigger['methods'].join(',')}] ` : '';
    const url = `${methods}${[origin, hostOptions.routePrefix, route].filter((part) => part !== '').join('/')}`;
    console.line(`  ${fn.metadata.name}: ${kind === 'httpTrigger' ? url : kind}`);
  }
}

function prefixed(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).map(([name, count]) => [`faults.${name}`, count]));
}

async function stop(
  host: Base & { triggers: Triggers; hub: TaskHub; registry: Registry; appHookData: object },
): Promise<void> {
  const drained = Promise.all([host.triggers.close(), host.hub.close()]);
  const isDrained = await Promise.race([drained.then(() => true), sleep(drainMs, false, { ref: false })]);
  if (!isDrained) host.console.warning(`Functions still run after ${drainMs} ms; the host stops without them.`);
  for (const hook of host.registry.hooks('appTerminate')) {
    await hook({ hookData: {}, appHookData: host.appHookData });
  }
  await host.server.close();
  await host.store.close();
}
