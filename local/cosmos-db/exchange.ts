/** A request as the routes see it, and what they answer. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Container } from './store/container.js';
import type { Database } from './store/catalog.js';
import type { Store } from './store/store.js';
import type { ResourcePath } from './resource-path.js';
import { badRequest, ownerNotFound } from './wire-errors.js';
import { isUtf8 } from 'node:buffer';
import type { Json, JsonObject } from './query/values.js';
import { isObject } from './query/values.js';

export interface Request {
  readonly method: string;
  readonly path: ResourcePath;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly store: Store;
  /** Time of the request in milliseconds. */
  readonly now: number;
  /** How far the replica that answers a read is behind, in milliseconds. */
  readonly behindMs: number;
}

/** An answer. Its effect on the store happens in `commit`, in the same turn as the route that decided it. */
export interface Answer {
  readonly status: number;
  readonly body?: string;
  readonly charge: number;
  /** Further headers as name, value, name, value … */
  readonly headers?: readonly string[];
  readonly commit?: () => void;
}

/** The one value of a header. */
export function header(request: Request, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** True for a header that says "True" in any case. */
export function flag(request: Request, name: string): boolean {
  return header(request, name)?.toLowerCase() === 'true';
}

/** True when a write's answer is to leave out the document. */
export function wantsNoContent(request: Request): boolean {
  return header(request, 'prefer')?.toLowerCase() === 'return=minimal';
}

/** The body as JSON. */
export function parseJson(body: Buffer): Json {
  if (!isUtf8(body)) throw badRequest('The body is not UTF-8.');
  try {
    return JSON.parse(body.toString('utf8')) as Json;
  } catch {
    throw badRequest('The request payload is invalid: it is not JSON. Ensure to provide a valid request payload.');
  }
}

/** The body as a JSON object. */
export function parseObject(body: Buffer): JsonObject {
  const value = parseJson(body);
  if (!isObject(value)) throw badRequest('The request payload is invalid: it is not a JSON object.');
  return value;
}

export function databaseOf(request: Request): Database {
  const database = request.store.databases.get(request.path.database);
  if (database === undefined) throw ownerNotFound(`database ${request.path.database}`);
  return database;
}

export function containerOf(request: Request): Container {
  const container = databaseOf(request).containers.get(request.path.container);
  if (container === undefined) throw ownerNotFound(`container ${request.path.container}`);
  return container;
}
