/** Starts the host: settings, HTTP server, store, app; and stops it in the opposite order. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createFaults } from '../faults/index.js';
import { wireApp, type WiredApp } from './app.js';
import { createConsole, type Console } from './console.js';
import { createCounters } from './counters.js';
import { checkFaultPlan } from './faults.js';
import { openStore, type InstanceStore } from './durable/store.js';
import { startHttpServer, type HttpServer } from './http-server.js';
import { applyLocalSettings, applySettings } from './settings.js';
import type { FunctionsHost, FunctionsHostOptions } from './types.js';
import { startWatchdog, type Watchdog } from './watchdog.js';

/** How long a stop waits for functions that run. */
const drainMs = 30_000;

interface Running {
  readonly console: Console;
  readonly app: WiredApp;
  readonly server: HttpServer;
  readonly store: InstanceStore;
  readonly watchdog: Watchdog;
}

/** Starts the host; rejects with what is wrong with the app, its settings or its surroundings. */
export async function startHost(options: FunctionsHostOptions): Promise<FunctionsHost> {
  checkFaultPlan(options.faults);
  const console = createConsole(options.log);
  if (options.useLocalSettings === true) applyLocalSettings(options.appDirectory);
  applySettings(options.settings);
  const server = await startHttpServer(options.port ?? 0, console);
  try {
    setHostVariables(server.port);
    const store = await openHostStore(options);
    try {
      return await startOnStore(options, { console, server, store });
    } catch (error) {
      await store.close();
      throw error;
    }
  } catch (error) {
    await server.close();
    throw error;
  }
}

async function startOnStore(
  options: FunctionsHostOptions,
  base: Omit<Running, 'app' | 'watchdog'>,
): Promise<FunctionsHost> {
  const { console, server, store } = base;
  const counters = createCounters();
  const faults = createFaults(options.faults);
  const origin = `http://127.0.0.1:${server.port}`;
  const app = await wireApp({ console, counters, faults, store, origin, variables: process.env }, options.appDirectory);
  const watchdog = startWatchdog();
  server.serve(app.routes);
  app.start();
  return {
    port: server.port,
    url: origin,
    keys: { master: app.keys.master, function: app.keys.host },
    counters: () => ({ ...counters.all(), ...faults.counters() }),
    setFaults: (plan) => {
      checkFaultPlan(plan);
      faults.replace(plan);
    },
    close: () => stop({ ...base, app, watchdog }),
  };
}

/** What Azure sets for the app; the durable client needs WEBSITE_HOSTNAME to leave the URLs alone. */
function setHostVariables(port: number): void {
  process.env['WEBSITE_HOSTNAME'] = `127.0.0.1:${port}`;
  process.env['WEBSITE_SITE_NAME'] ??= 'local';
  process.env['WEBSITE_INSTANCE_ID'] ??= 'local';
  process.env['AZURE_FUNCTIONS_ENVIRONMENT'] ??= 'Development';
  process.env['FUNCTIONS_WORKER_RUNTIME'] ??= 'node';
}

function openHostStore({ dataDirectory, fsync }: FunctionsHostOptions): Promise<InstanceStore> {
  return openStore({ directory: dataDirectory, fsync });
}

async function stop({ app, console, server, store, watchdog }: Running): Promise<void> {
  const drained = app.drain().then(() => true);
  const isDrained = await Promise.race([drained, sleep(drainMs, false, { ref: false })]);
  if (!isDrained) console.warning(`Functions still run after ${drainMs} ms; the host stops without them.`);
  await app.terminate();
  await server.close();
  await store.close();
  await watchdog.close();
}
