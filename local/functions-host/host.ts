/** Starts the host: settings, HTTP server, store, app; and stops it in the opposite order. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createFaults } from '../faults/index.js';
import { wireApp, type WiredApp } from './app.js';
import { createConsole, type Console } from './console.js';
import { createCounters } from './counters.js';
import { checkFaultPlan } from './faults.js';
import { openStore, type InstanceStore } from './durable/store.js';
import { startHttpServer, type HttpServer } from './http-server.js';
import { hostVariables, readLocalSettings, type Variables } from './settings.js';
import type { FunctionsHost, FunctionsHostOptions } from './types.js';

/** How long a stop waits for functions that run. */
const drainMs = 30_000;

interface Running {
  readonly console: Console;
  readonly app: WiredApp;
  readonly server: HttpServer;
  readonly store: InstanceStore;
}

/** Starts the host; rejects with what is wrong with the app, its settings or its surroundings. */
export async function startHost(options: FunctionsHostOptions): Promise<FunctionsHost> {
  checkFaultPlan(options.faults);
  const console = createConsole(options.log);
  const server = await startHttpServer(options.port ?? 0, console);
  try {
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

async function startOnStore(options: FunctionsHostOptions, base: Omit<Running, 'app'>): Promise<FunctionsHost> {
  const { console, server, store } = base;
  const counters = createCounters();
  const faults = createFaults(options.faults);
  const origin = `http://127.0.0.1:${server.port}`;
  const variables = appVariables(options, server.port);
  const app = await wireApp({ console, counters, faults, store, origin, variables }, options.appDirectory);
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
    close: () => stop({ ...base, app }),
  };
}

/** The app's environment: its settings are stronger than the host's environment, local.settings.json is weaker. */
function appVariables({ appDirectory, settings, useLocalSettings }: FunctionsHostOptions, port: number): Variables {
  const local = useLocalSettings === true ? readLocalSettings(appDirectory) : {};
  const { defaults, fixed } = hostVariables(port);
  return { ...defaults, ...local, ...process.env, ...settings, ...fixed };
}

function openHostStore({ dataDirectory, fsync, onStorageFailure }: FunctionsHostOptions): Promise<InstanceStore> {
  return openStore({ directory: dataDirectory, fsync, onFailure: onStorageFailure });
}

async function stop({ app, console, server, store }: Running): Promise<void> {
  const drained = app.drain().then(() => true);
  const isDrained = await Promise.race([drained, sleep(drainMs, false, { ref: false })]);
  if (!isDrained) console.warning(`Functions still run after ${drainMs} ms; the host stops without them.`);
  await app.terminate();
  await server.close();
  await store.close();
}
