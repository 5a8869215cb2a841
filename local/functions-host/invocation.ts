/**
 * One invocation of a function through the library's own invocation model, in the order of the Node worker:
 * arguments, preInvocation hooks, the function, postInvocation hooks, response.
 */
import { randomUUID } from 'node:crypto';
import type { Console } from './console.js';
import type { CoreInvocationContext, FunctionCallback, InvocationResponse, LogLevel, TypedData } from './core-api.js';
import type { Counters } from './counters.js';
import type { RegisteredFunction, Registry } from './registry.js';

/** What the trigger hands to the function. */
export interface InvocationRequest {
  readonly fn: RegisteredFunction;
  /** The trigger's data and every other input, by binding name. */
  readonly inputs: readonly { readonly name: string; readonly data: TypedData }[];
  readonly triggerMetadata?: Readonly<Record<string, TypedData>>;
  readonly traceParent?: string;
  readonly reason?: string;
}

/** What the function made of it: the value as returned, and as the worker sends it. */
export interface InvocationOutcome {
  readonly result: unknown;
  readonly response: InvocationResponse;
}

export type Invoke = (request: InvocationRequest) => Promise<InvocationOutcome>;

/** What invocations need of the host. */
export interface InvocationSurroundings {
  readonly registry: Registry;
  readonly console: Console;
  readonly counters: Counters;
  /** Data that hooks of the app share, kept for the life of the app. */
  readonly appHookData: object;
  /** host.json functionTimeout. */
  readonly functionTimeoutMs: number | undefined;
}

interface Hooked {
  inputs: unknown[];
  functionCallback: FunctionCallback;
  result?: unknown;
  error?: unknown;
}

/** Creates the function that runs invocations; it rejects with whatever the app's function or hooks throw. */
export function createInvoker(host: InvocationSurroundings): Invoke {
  return async (request) => {
    const invocationId = randomUUID();
    const { name } = request.fn.metadata;
    host.counters.add(`invocations.${name}`);
    const done = host.console.invocationStarted(name, invocationId, request.reason);
    try {
      const outcome = await run(host, request, invocationId);
      done('Succeeded');
      return outcome;
    } catch (error) {
      done('Failed', error);
      throw error;
    }
  };
}

async function run(
  host: InvocationSurroundings,
  request: InvocationRequest,
  invocationId: string,
): Promise<InvocationOutcome> {
  const { metadata, callback } = request.fn;
  const core = coreContext(host, request, invocationId);
  const model = host.registry.programmingModel().getInvocationModel(core);
  const { context, inputs } = await model.getArguments();
  const hooked: Hooked = { inputs, functionCallback: callback };
  const hookData = {};

  core.state = 'preInvocationHooks';
  await runHooks(host, 'preInvocation', context, hooked, hookData);
  core.state = 'invocation';
  try {
    const call = model.invokeFunction(context, hooked.inputs, hooked.functionCallback);
    hooked.result = await withTimeout(call, host.functionTimeoutMs, metadata.name);
  } catch (error) {
    hooked.error = error ?? new NotAnError(error);
  }
  core.state = 'postInvocationHooks';
  await runHooks(host, 'postInvocation', context, hooked, hookData);
  if (hooked.error !== undefined && hooked.error !== null) throw asError(hooked.error);
  return { result: hooked.result, response: await model.getResponse(context, hooked.result) };
}

/** A function that does not return in time counts as failed. It cannot be stopped: Azure restarts the worker instead. */
async function withTimeout(call: Promise<unknown>, timeoutMs: number | undefined, name: string): Promise<unknown> {
  if (timeoutMs === undefined) return call;
  let timeout: NodeJS.Timeout | undefined;
  const timedOut = new Promise<never>((_resolve, reject) => {
    timeout = setTimeout(() => {
      reject(new Error(`Timeout value of ${timeoutMs} ms exceeded by function: Functions.${name}`));
    }, timeoutMs);
  });
  try {
    return await Promise.race([call, timedOut]);
  } finally {
    clearTimeout(timeout);
  }
}

/** The function threw something that is no Error; Azure shows it as an error without a message. */
export class NotAnError extends Error {
  override readonly name = 'NotAnError';

  constructor(thrown: unknown) {
    super(`The function threw ${String(thrown)}, which is no Error.`);
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new NotAnError(error);
}

function coreContext(
  host: InvocationSurroundings,
  request: InvocationRequest,
  invocationId: string,
): CoreInvocationContext {
  const { metadata } = request.fn;
  return {
    invocationId,
    metadata,
    request: {
      invocationId,
      functionId: metadata.name,
      inputData: request.inputs,
      triggerMetadata: request.triggerMetadata ?? null,
      traceContext: request.traceParent === undefined ? null : { traceParent: request.traceParent, traceState: '' },
      retryContext: null,
    },
    log: (level, category, message) => {
      logThroughHooks(host, { level, category, message, functionName: metadata.name, invocationId });
    },
  };
}

async function runHooks(
  host: InvocationSurroundings,
  name: 'preInvocation' | 'postInvocation',
  invocationContext: object,
  ...[hooked, hookData]: readonly [Hooked, object]
): Promise<void> {
  const callbacks = host.registry.hooks(name);
  if (callbacks.length === 0) return;
  const hookContext = Object.assign(hooked, { hookData, appHookData: host.appHookData, invocationContext });
  for (const callback of callbacks) await callback(hookContext);
}

function logThroughHooks(
  host: InvocationSurroundings,
  entry: { level: LogLevel; category: string; message: string; functionName: string; invocationId: string },
): void {
  const callbacks = host.registry.hooks('log');
  const shown = { level: entry.level, message: entry.message };
  if (callbacks.length > 0) {
    const hookContext = Object.assign(shown, { category: entry.category, hookData: {}, appHookData: host.appHookData });
    for (const callback of callbacks) callback(hookContext);
  }
  host.console.functionLog(shown.level, shown.message, entry.functionName);
}
