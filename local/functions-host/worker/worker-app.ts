/** The app inside the worker: loads it, and runs its functions through the library's own invocation model. */
import type { FunctionMetadata } from '../core-api.js';
import type { FunctionCall, MessageFromWorker, ThrownError } from '../worker-messages.js';
import { loadApp } from './app-loader.js';
import { installCoreModule } from './core-module.js';
import { createDeterminismGuard, type WatchOrchestrator } from './determinism-guard.js';
import { createRegistry, type RegisteredFunction, type Registry } from './registry.js';
import { NotAnError, runInvocation } from './run-invocation.js';
import { reportingRepeats } from './yielded-twice.js';

/** How a call ended. */
export type CallOutcome =
  | Omit<Extract<MessageFromWorker, { readonly kind: 'returned' }>, 'id'>
  | Omit<Extract<MessageFromWorker, { readonly kind: 'threw' }>, 'id'>;

/** A loaded app. */
export interface WorkerApp {
  readonly functions: readonly FunctionMetadata[];
  /** Runs one call; never rejects. */
  run(call: FunctionCall): Promise<CallOutcome>;
  /** Runs the app's own hooks for the end. */
  terminate(): Promise<void>;
}

/** Loads the app; rejects with what is wrong with it. `send` takes what the app reports while it runs. */
export async function loadWorkerApp(
  appDirectory: string,
  send: (message: MessageFromWorker) => void,
): Promise<WorkerApp> {
  const appHookData = {};
  const registry = await loadFunctions(appDirectory, appHookData, send);
  const watch = createDeterminismGuard((text) => {
    send({ kind: 'violation', text });
  });
  const functions = new Map([...registry.functions].map(([name, fn]) => [name, watched(fn, watch)]));
  return {
    functions: [...functions.values()].map(({ metadata }) => metadata),
    async run(call) {
      try {
        const fn = functions.get(call.functionName);
        if (fn === undefined) throw new Error(`The app has no function "${call.functionName}".`);
        return { kind: 'returned', response: await runInvocation({ registry, appHookData, send }, fn, call) };
      } catch (error) {
        return { kind: 'threw', error: thrownError(error) };
      }
    },
    async terminate() {
      for (const hook of registry.hooks('appTerminate')) await hook({ hookData: {}, appHookData });
    },
  };
}

function watched(fn: RegisteredFunction, watch: WatchOrchestrator): RegisteredFunction {
  const { metadata, callback } = fn;
  const isOrchestrator = Object.values(metadata.bindings).some(({ type }) => type === 'orchestrationTrigger');
  return isOrchestrator ? { metadata, callback: reportingRepeats(watch(metadata.name, callback)) } : fn;
}

async function loadFunctions(
  appDirectory: string,
  appHookData: object,
  send: (message: MessageFromWorker) => void,
): Promise<Registry> {
  const registry = createRegistry((level, _category, message) => {
    if (level !== 'debug' && level !== 'trace') send({ kind: 'log', level, message, functionName: 'app' });
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

function thrownError(error: unknown): ThrownError {
  if (!(error instanceof Error)) return { isError: false, name: 'Error', message: String(error), stack: '' };
  const { name, message, stack = '' } = error;
  return { isError: !(error instanceof NotAnError), name, message, stack };
}
