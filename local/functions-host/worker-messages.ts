/** What the host and the Node worker say to each other. Both come from the same build. */
import type { FunctionMetadata, InvocationResponse, LogLevel, TypedData } from './core-api.js';

/** What a worker thread is started with. */
export interface WorkerData {
  readonly appDirectory: string;
  /** One number, which the worker raises while its event loop runs. */
  readonly beats: SharedArrayBuffer;
}

/** One call of a function. */
export interface FunctionCall {
  readonly functionName: string;
  readonly invocationId: string;
  /** The trigger's data and every other input, by binding name. */
  readonly inputs: readonly { readonly name: string; readonly data: TypedData }[];
  readonly triggerMetadata: Readonly<Record<string, TypedData>> | null;
  readonly traceParent: string | undefined;
}

/** What a function threw. */
export interface ThrownError {
  /** False if the function threw something that is not an Error. */
  readonly isError: boolean;
  readonly name: string;
  readonly message: string;
  readonly stack: string;
}

export type MessageToWorker =
  | { readonly kind: 'call'; readonly id: number; readonly call: FunctionCall }
  /** Run the app's hooks for the end, and end. */
  | { readonly kind: 'terminate' };

export type MessageFromWorker =
  | { readonly kind: 'loaded'; readonly functions: readonly FunctionMetadata[] }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'returned'; readonly id: number; readonly response: InvocationResponse }
  | { readonly kind: 'threw'; readonly id: number; readonly error: ThrownError }
  | { readonly kind: 'log'; readonly level: LogLevel; readonly message: string; readonly functionName: string }
  /** An orchestrator broke a rule of determinism; the text is there when it is to be shown. */
  | { readonly kind: 'violation'; readonly text: string | undefined };
