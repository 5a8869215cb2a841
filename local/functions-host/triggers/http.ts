/** HTTP triggers: routes, methods, keys, and the exchange in the worker's form. */
import type { IncomingMessage } from 'node:http';
import type { HttpCookie, HttpData, NullableString, TypedData } from '../core-api.js';
import { HttpError, type Answer } from '../http-exchange.js';
import type { Invoke } from '../invocation.js';
import type { HostKeys } from '../durable/records.js';
import type { FunctionMetadata } from '../core-api.js';
import { compareRoutes, matchRoute, parseRoute, type Route } from './route.js';

/** An HTTP function and how it is reached. */
export interface HttpFunction {
  readonly fn: FunctionMetadata;
  readonly bindingName: string;
  readonly extraInputs: readonly { readonly name: string; readonly data: TypedData }[];
  readonly route: Route;
  readonly methods: readonly string[];
  readonly authLevel: 'anonymous' | 'function' | 'admin';
}

/** The HTTP functions of an app. */
export interface HttpTriggers {
  add(fn: Omit<HttpFunction, 'route'> & { readonly route: string }): void;
  /** Answers a request whose path follows the route prefix. */
  handle(request: IncomingMessage, path: readonly string[], body: Buffer): Promise<Answer>;
}

/** Creates an empty table of routes. */
export function createHttpTriggers(invoke: Invoke, keys: HostKeys): HttpTriggers {
  const functions: HttpFunction[] = [];
  return {
    add(fn) {
      functions.push({ ...fn, route: parseRoute(fn.route) });
      functions.sort((one, other) => compareRoutes(one.route, other.route));
    },
    async handle(request, path, body) {
      const method = request.method ?? 'GET';
      for (const candidate of functions) {
        const parameters = candidate.methods.includes(method) ? matchRoute(candidate.route, path) : undefined;
        if (parameters === undefined) continue;
        authorize(candidate, request, keys);
        return run(invoke, candidate, { request, parameters, body });
      }
      throw new HttpError(404, '');
    },
  };
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly parameters: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

async function run(invoke: Invoke, candidate: HttpFunction, exchange: Exchange): Promise<Answer> {
  const http = requestData(exchange);
  const traceParent = exchange.request.headers['traceparent'];
  const { returnValue } = await invoke({
    fn: candidate.fn,
    inputs: [{ name: candidate.bindingName, data: { http } }, ...candidate.extraInputs],
    reason: 'This function was programmatically called via the host APIs.',
    ...(typeof traceParent === 'string' ? { traceParent } : {}),
  });
  const answer = returnValue?.http;
  return answer === undefined ? { status: 204 } : responseAnswer(answer);
}

function authorize({ authLevel }: HttpFunction, request: IncomingMessage, keys: HostKeys): void {
  if (authLevel === 'anonymous') return;
  const { searchParams } = new URL(request.url ?? '/', 'http://host');
  const given = request.headers['x-functions-key'] ?? searchParams.get('code');
  const isAllowed = given === keys.master || (authLevel === 'function' && given === keys.host);
  if (!isAllowed) throw new HttpError(401, '');
}

function requestData({ request, parameters, body }: Exchange): HttpData {
  const url = new URL(request.url ?? '/', `http://${request.headers.host ?? '127.0.0.1'}`);
  const headers = headersOf(request);
  const query: Record<string, string> = {};
  for (const [name, value] of url.searchParams) query[name] = name in query ? `${query[name] ?? ''},${value}` : value;
  return {
    method: request.method ?? 'GET',
    url: url.href,
    headers,
    nullableHeaders: nullable(headers),
    query,
    nullableQuery: nullable(query),
    params: parameters,
    nullableParams: nullable(parameters),
    ...(body.length === 0 ? {} : { body: { bytes: body } }),
  };
}

function headersOf(request: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(',') : value;
  }
  return headers;
}

function nullable(values: Readonly<Record<string, string>>): Record<string, NullableString> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value }]));
}

function responseAnswer({ statusCode, headers = {}, cookies = [], body }: HttpData): Answer {
  const bytes = body?.bytes;
  const withCookies = cookies.length === 0 ? headers : withSetCookie(headers, cookies);
  return {
    status: Number(statusCode ?? 200),
    headers: withCookies,
    ...(bytes === undefined || bytes.length === 0 ? {} : { body: Buffer.from(bytes) }),
  };
}

/** A set-cookie header of the function's own is sent beside its cookies. */
function withSetCookie(
  headers: Readonly<Record<string, string>>,
  cookies: readonly HttpCookie[],
): Record<string, string | string[]> {
  const own = Object.entries(headers).filter(([name]) => name.toLowerCase() === 'set-cookie');
  const others = Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'set-cookie');
  const texts = [...own.map(([, value]) => value), ...cookies.map(cookieText)];
  return { ...Object.fromEntries(others), 'set-cookie': texts };
}

/** The protocol's "none" means that the cookie says nothing about it. */
const sameSiteTexts: Readonly<Record<string, string>> = { lax: 'Lax', strict: 'Strict', explicitNone: 'None' };

function cookieText(cookie: HttpCookie): string {
  const attributes: readonly (readonly [string, string | number | undefined])[] = [
    ['Domain', cookie.domain?.value],
    ['path', cookie.path?.value ?? '/'],
    ['Expires', expiryText(cookie)],
    ['Max-Age', cookie.maxAge?.value],
    ['SameSite', sameSiteTexts[cookie.sameSite ?? 'none']],
  ];
  const given = attributes.flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]));
  if (cookie.secure?.value === true) given.push('Secure');
  if (cookie.httpOnly?.value === true) given.push('HttpOnly');
  return [`${cookie.name}=${encodeURIComponent(cookie.value)}`, ...given].join('; ');
}

function expiryText({ expires }: HttpCookie): string | undefined {
  return expires === undefined ? undefined : new Date(expires.value.seconds * 1000).toUTCString();
}
