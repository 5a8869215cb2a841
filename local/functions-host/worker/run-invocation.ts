/**
 * One invocation of a function through the library's own invocation model, in the order of the Node worker:
 * arguments, preInvocation hooks, the function, postInvocation hooks, response.
 */
import type {
  CoreInvocationContext,
  FunctionCallback,
  HookCallback,
  InvocationResponse,
  LogLevel,
} from '../core-api.js';
import type { FunctionCall, MessageFromWorker } from '../worker-messages.js';
import type { RegisteredFunction, Registry } from './registry.js';

/** What invocations need of the worker. */
export interface InvocationSurroundings {
  readonly registry: Registry;
  /** Data that hooks of the app share, kept for the life of the app. */
  readonly appHookData: object;
  /** Takes what the function logs. */
  readonly send: (message: MessageFromWorker) => void;
}

interface Hooked {
  inputs: unknown[];
  functionCallback: FunctionCallback;
  result?: unknown;
  error?: unknown;
}

/** Runs the function; rejects with whatever it or a hook throws. */
export async function runInvocation(
  worker: InvocationSurroundings,
  { metadata, callback }: RegisteredFunction,
  call: FunctionCall,
): Promise<InvocationResponse> {
  const core = coreContext(worker, metadata, call);
  const model = worker.registry.programmingModel().getInvocationModel(core);
  const { context, inputs } = await model.getArguments();
  const hooked: Hooked = { inputs, functionCallback: callback };
  const hookContext = Object.assign(hooked, {
    hookData: {},
    appHookData: worker.appHookData,
    invocationContext: context,
  });

  core.state = 'preInvocationHooks';
  await runHooks(worker.registry.hooks('preInvocation'), hookContext);
  core.state = 'invocation';
  try {
    hooked.result = await model.invokeFunction(context, hooked.inputs, hooked.functionCallback);
  } catch (error) {
    hooked.error = error ?? new NotAnError(error);
  }
  core.state = 'postInvocationHooks';
  await runHooks(worker.registry.hooks('postInvocation'), hookContext);
  if (hooked.error !== undefined && hooked.error !== null) throw asError(hooked.error);
  return model.getResponse(context, hooked.result);
}

/** The function threw something that is not an Error; Azure shows it as an error without a message. */
export class NotAnError extends Error {
  override readonly name = 'NotAnError';

  constructor(thrown: unknown) {
    super(`The function threw ${String(thrown)}, which is not an Error.`);
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new NotAnError(error);
}

function coreContext(
  worker: InvocationSurroundings,
  metadata: RegisteredFunction['metadata'],
  { invocationId, inputs, triggerMetadata, traceParent }: FunctionCall,
): CoreInvocationContext {
  return {
    invocationId,
    metadata,
    request: {
      invocationId,
      functionId: metadata.name,
      inputData: inputs,
      triggerMetadata,
      traceContext: traceParent === undefined ? null : { traceParent, traceState: '' },
      retryContext: null,
    },
    log: (level, category, message) => {
      logThroughHooks(worker, { level, category, message, functionName: metadata.name });
    },
  };
}

async function runHooks(callbacks: readonly HookCallback[], hookContext: object): Promise<void> {
  for (const callback of callbacks) await callback(hookContext);
}

function logThroughHooks(
  { registry, appHookData, send }: InvocationSurroundings,
  entry: { level: LogLevel; category: string; message: string; functionName: string },
): void {
  const callbacks = registry.hooks('log');
  const shown = { level: entry.level, message: entry.message };
  if (callbacks.length > 0) {
    const hookContext = Object.assign(shown, { category: entry.category, hookData: {}, appHookData });
    for (const callback of callbacks) callback(hookContext);
  }
  send({ kind: 'log', level: shown.level, message: shown.message, functionName: entry.functionName });
}
