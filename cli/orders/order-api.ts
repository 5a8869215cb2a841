/** The operator's HTTP API of the function app. */
import { CommandError } from '../errors.js';
import { orderRecordSchema } from './order-record.js';
import type { OrderRecord } from './order-record.js';

/** Where the function app listens, and the key for its operator functions. */
export interface AppEndpoint {
  readonly url: string;
  /** Function key; Core Tools asks for none. */
  readonly key: string | undefined;
  /** What to do when it does not answer. */
  readonly hint: string;
}

/** What an operator may have done to an order. */
export type OperatorVerb = 'resubmit' | 'compensate' | 'retry-undo' | 'skip-undo' | 'abandon';

/** What an operator says with a verb. */
export interface OperatorRequest {
  readonly reason: string;
  /** The step that the verb is about, where it is about one. */
  readonly stepId?: string;
}

/** Calls to the function app. */
export interface OrderApi {
  /** The record of an order; `undefined` when there is none. */
  find(orderId: string): Promise<OrderRecord | undefined>;
  /** The record as the app sent it. */
  findRaw(orderId: string): Promise<unknown>;
  /** Applies a verb; answers the changed record. */
  operate(verb: OperatorVerb, orderId: string, request: OperatorRequest): Promise<OrderRecord>;
  /** Pauses or resumes the intake of orders. */
  setIntake(verb: 'pause' | 'resume', reason: string): Promise<void>;
}

/** The app could not be reached; it may be there again later. */
export class AppUnreachableError extends CommandError {}

const callLimitMs = 10_000;

/** Creates the calls to an app. */
export function createOrderApi(app: AppEndpoint): OrderApi {
  const findRaw = async (orderId: string): Promise<unknown> => {
    const response = await call(app, orderPath(orderId), { method: 'GET' });
    if (response.status === 404) return undefined;
    return contentOf(response, app);
  };
  return {
    findRaw,
    async find(orderId) {
      const raw = await findRaw(orderId);
      return raw === undefined ? undefined : recordOf(raw, app);
    },
    async operate(verb, orderId, request) {
      const response = await post(app, `${orderPath(orderId)}/${verb}`, request);
      if (response.status === 404) throw unknownOrder(orderId);
      if (response.status === 409) throw new CommandError(await wrongState(response, verb, orderId));
      return recordOf(await contentOf(response, app), app);
    },
    async setIntake(verb, reason) {
      await contentOf(await post(app, `api/intake/${verb}`, { reason }), app);
    },
  };
}

/** The error for an order that the app does not know. */
export function unknownOrder(orderId: string): CommandError {
  return new CommandError(
    `There is no order ${orderId}. Was it sent? A refused one is in the dead-letter queue: npm run cli -- dead-letters orders`,
  );
}

function orderPath(orderId: string): string {
  return `api/orders/${encodeURIComponent(orderId)}`;
}

function post(app: AppEndpoint, path: string, body: object): Promise<Response> {
  return call(app, path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  });
}

async function call(app: AppEndpoint, path: string, request: RequestInit): Promise<Response> {
  const key: Record<string, string> = app.key === undefined ? {} : { 'x-functions-key': app.key };
  const headers = { ...key, ...(request.headers as Record<string, string> | undefined) };
  const address = new URL(path, app.url.endsWith('/') ? app.url : `${app.url}/`);
  try {
    return await fetch(address, { ...request, headers, signal: AbortSignal.timeout(callLimitMs) });
  } catch (error) {
    throw new AppUnreachableError(`The function app at ${app.url} does not answer. ${app.hint}`, { cause: error });
  }
}

async function contentOf(response: Response, app: AppEndpoint): Promise<unknown> {
  if (response.ok) return response.json().catch(() => undefined);
  const text = await response.text().catch(() => '');
  if (response.status === 401 || response.status === 403) {
    throw new CommandError(`The function app at ${app.url} refuses the key. ${app.hint}`);
  }
  const answer = `The function app at ${app.url} answered ${response.status}${text === '' ? '' : `: ${text.slice(0, 500)}`}`;
  throw response.status >= 500 ? new AppUnreachableError(answer) : new CommandError(answer);
}

function recordOf(raw: unknown, app: AppEndpoint): OrderRecord {
  const parsed = orderRecordSchema.safeParse(raw);
  if (parsed.success) return parsed.data;
  const first = parsed.error.issues[0];
  throw new CommandError(
    `The answer of ${app.url} is no order record (${first?.path.join('.') ?? ''}: ${first?.message ?? ''}). ` +
      'Is that the address of the function app, in the version of this command line?',
  );
}

async function wrongState(response: Response, verb: OperatorVerb, orderId: string): Promise<string> {
  const problem = (await response.json().catch(() => ({}))) as { readonly message?: unknown };
  const state = typeof problem.message === 'string' ? problem.message : 'the order is in another state';
  return `Cannot ${verb} ${orderId}: ${state}. Look at it: npm run cli -- show ${orderId}`;
}
