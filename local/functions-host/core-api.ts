/**
 * The shapes of `@azure/functions-core`, the module that the Functions worker hands to the `@azure/functions` library.
 * There is no package of that name: these are the members the library uses.
 */

/** One value on its way between host and function, as the worker's protocol carries it. */
export interface TypedData {
  readonly string?: string;
  readonly json?: string;
  readonly bytes?: Uint8Array;
  readonly int?: number;
  readonly double?: number;
  readonly http?: HttpData;
}

/** A string that may be absent, as the protocol writes it. */
export interface NullableString {
  readonly value: string;
}

/** An HTTP request, or the response to one. */
export interface HttpData {
  readonly method?: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly nullableHeaders?: Readonly<Record<string, NullableString>>;
  readonly nullableParams?: Readonly<Record<string, NullableString>>;
  readonly nullableQuery?: Readonly<Record<string, NullableString>>;
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: TypedData | null;
  readonly statusCode?: string;
  readonly cookies?: readonly HttpCookie[];
}

/** A cookie of an HTTP response. */
export interface HttpCookie {
  readonly name: string;
  readonly value: string;
  readonly domain?: NullableString;
  readonly path?: NullableString;
  readonly expires?: { readonly value: { readonly seconds: number } };
  readonly secure?: { readonly value: boolean };
  readonly httpOnly?: { readonly value: boolean };
  readonly sameSite?: string;
  readonly maxAge?: { readonly value: number };
}

/** A trigger, input or output of a function with its options as the app wrote them. */
export interface Binding {
  readonly type: string;
  readonly direction: string;
  readonly properties?: Readonly<Record<string, string>>;
  readonly [option: string]: unknown;
}

/** A function as the library registers it. */
export interface FunctionMetadata {
  readonly name: string;
  readonly bindings: Readonly<Record<string, Binding>>;
  readonly retryOptions?: object;
}

export type FunctionCallback = (...args: unknown[]) => unknown;

export type LogLevel = 'trace' | 'debug' | 'information' | 'warning' | 'error' | 'critical' | 'none';

/** What the host tells the library about one invocation. */
export interface CoreInvocationContext {
  readonly invocationId: string;
  readonly metadata: FunctionMetadata;
  state?: 'preInvocationHooks' | 'invocation' | 'postInvocationHooks';
  readonly request: {
    readonly invocationId: string;
    readonly functionId: string;
    readonly inputData: readonly { readonly name: string; readonly data: TypedData }[];
    readonly triggerMetadata: Readonly<Record<string, TypedData>> | null;
    readonly traceContext: { readonly traceParent: string; readonly traceState: string } | null;
    readonly retryContext: null;
  };
  log(level: LogLevel, category: string, message: string): void;
}

/** What an invocation gives back. */
export interface InvocationResponse {
  readonly outputData?: readonly { readonly name: string; readonly data: TypedData }[];
  readonly returnValue?: TypedData | null;
}

/** The library's side of one invocation. */
export interface InvocationModel {
  getArguments(): Promise<{ readonly context: object; readonly inputs: unknown[] }>;
  invokeFunction(context: object, inputs: unknown[], callback: FunctionCallback): Promise<unknown>;
  getResponse(context: object, result: unknown): Promise<InvocationResponse>;
}

/** The library as the worker sees it. */
export interface ProgrammingModel {
  readonly name: string;
  readonly version: string;
  getInvocationModel(context: CoreInvocationContext): InvocationModel;
  getCapabilities(capabilities: Record<string, string>): Promise<Record<string, string>> | Record<string, string>;
}

export type HookCallback = (context: unknown) => unknown;
