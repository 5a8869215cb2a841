/** Invocations as the host sees them: a call of the worker, with lines on the console, a time limit and faults. */
import { randomUUID } from 'node:crypto';
import type { Faults } from '../faults/index.js';
import type { Console } from './console.js';
import type { FunctionMetadata, InvocationResponse, TypedData } from './core-api.js';
import type { Counters } from './counters.js';
import { withFault } from './faults.js';
import type { NodeWorker } from './node-worker.js';
import type { FunctionCall } from './worker-messages.js';

/** What the trigger hands to the function. */
export interface InvocationRequest {
  readonly fn: FunctionMetadata;
  /** The trigger's data and every other input, by binding name. */
  readonly inputs: FunctionCall['inputs'];
  readonly triggerMetadata?: Readonly<Record<string, TypedData>>;
  readonly traceParent?: string;
  readonly reason?: string;
}

/** Runs a function; rejects with what it threw, or with why it could not run to its end. */
export type Invoke = (request: InvocationRequest) => Promise<InvocationResponse>;

/** What invocations need of the host. */
export interface InvocationSurroundings {
  readonly worker: NodeWorker;
  readonly console: Console;
  readonly counters: Counters;
  readonly faults: Faults;
  /** host.json functionTimeout. */
  readonly functionTimeoutMs: number | undefined;
}

/** The function did not return in time. */
export class FunctionTimeoutError extends Error {
  override readonly name = 'FunctionTimeoutError';
}

/** Creates the function that runs invocations. */
export function createInvoker(host: InvocationSurroundings): Invoke {
  const { console, counters, faults } = host;
  return (request) => {
    const { name } = request.fn;
    const dropped = (): InvocationResponse => ({});
    return withFault(faults, { operation: 'invoke', entity: name, dropped }, async () => {
      const invocationId = randomUUID();
      counters.add(`invocations.${name}`);
      const done = console.invocationStarted(name, invocationId, request.reason);
      try {
        const response = await callInTime(host, callOf(request, invocationId));
        done('Succeeded');
        return response;
      } catch (error) {
        done('Failed', error);
        throw error;
      }
    });
  };
}

function callOf({ fn, inputs, triggerMetadata, traceParent }: InvocationRequest, invocationId: string): FunctionCall {
  return { functionName: fn.name, invocationId, inputs, triggerMetadata: triggerMetadata ?? null, traceParent };
}

/** A function that does not return in time cannot be stopped, so its worker is ended, as in Azure. */
async function callInTime(host: InvocationSurroundings, call: FunctionCall): Promise<InvocationResponse> {
  const { functionTimeoutMs, worker } = host;
  if (functionTimeoutMs === undefined) return callWithFaults(host, call);
  let timeout: NodeJS.Timeout | undefined;
  const timedOut = new Promise<never>((_resolve, reject) => {
    timeout = setTimeout(() => {
      const text = `Timeout value of ${functionTimeoutMs} ms exceeded by function: Functions.${call.functionName}`;
      reject(new FunctionTimeoutError(text));
      worker.kill().catch(() => undefined);
    }, functionTimeoutMs);
  });
  try {
    return await Promise.race([callWithFaults(host, call), timedOut]);
  } finally {
    clearTimeout(timeout);
  }
}

/** A fault can end the worker as the function is called, or when it has run and before the host has its answer. */
async function callWithFaults(
  { worker, faults }: InvocationSurroundings,
  call: FunctionCall,
): Promise<InvocationResponse> {
  const rule = faults.decide('worker', call.functionName);
  if (rule === undefined) return worker.call(call);
  await worker.whenReplaced();
  if (rule.action === 'cutAfterCommit') await worker.call(call).catch(() => undefined);
  return worker.kill();
}
