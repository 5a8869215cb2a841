/** The host's one HTTP server: the app's routes, the durable API (twice), and the admin endpoints. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Console } from './console.js';
import type { DurableCall } from './durable/http-api.js';
import { followConnections } from './http-connections.js';
import { CutByFault, RefusedByFault } from './faults.js';
import { HttpError, readBody, send, type Answer } from './http-exchange.js';

/** What answers behind each path. */
export interface Routes {
  readonly routePrefix: readonly string[];
  http(request: IncomingMessage, path: readonly string[], body: Buffer): Promise<Answer>;
  durable(call: DurableCall): Promise<Answer>;
  admin(method: string, path: readonly string[], body: Buffer): Promise<Answer>;
  /** Whether a request to the public durable API carries the key. */
  isDurableKey(key: string | null): boolean;
}

/** A listening server. */
export interface HttpServer {
  readonly port: number;
  /** Begins to answer requests; until then they wait. */
  serve(routes: Routes): void;
  /** Lets running handlers answer, and closes all connections. */
  close(): Promise<void>;
}

const rpcPath = ['durabletask'];
const publicDurablePath = ['runtime', 'webhooks', 'durabletask'];

/** Listens on 127.0.0.1; rejects with a clear error when the port is taken. */
export async function startHttpServer(port: number, console: Console): Promise<HttpServer> {
  let open: (routes: Routes) => void = () => undefined;
  const routesReady = new Promise<Routes>((resolve) => {
    open = resolve;
  });
  const server = createServer({ keepAlive: true, noDelay: true }, (request, response) => {
    void routesReady.then((routes) => answer(routes, { request, response }, console));
  });
  server.keepAliveTimeout = 60_000;
  const close = followConnections(server);
  await listen(server, port);
  return {
    port: (server.address() as AddressInfo).port,
    serve: open,
    close,
  };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const isTaken = error.code === 'EADDRINUSE';
      reject(isTaken ? new Error(`Port ${port} on 127.0.0.1 is taken. Choose another, or 0 for a free one.`) : error);
    });
    server.listen(port, '127.0.0.1', resolve);
  });
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

async function answer(routes: Routes, { request, response }: Exchange, console: Console): Promise<void> {
  try {
    send(response, await route(routes, request));
  } catch (error) {
    if (error instanceof CutByFault) request.socket.destroy();
    else send(response, errorAnswer(error, console));
  }
}

function errorAnswer(error: unknown, console: Console): Answer {
  if (error instanceof HttpError) return { status: error.status, body: error.message };
  if (error instanceof RefusedByFault) return { status: Number(error.message) || 503, body: error.message };
  console.error(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return { status: 500, body: 'Internal Server Error' };
}

async function route(routes: Routes, request: IncomingMessage): Promise<Answer> {
  const url = parseUrl(request.url ?? '/');
  const path = decodePath(url.pathname);
  const body = await readBody(request);
  const durable = under(path, rpcPath);
  if (durable !== undefined) return routes.durable(durableCall(request, url, durable, body));
  const publicDurable = under(path, publicDurablePath);
  if (publicDurable !== undefined) {
    if (!routes.isDurableKey(url.searchParams.get('code'))) throw new HttpError(401, '');
    return routes.durable(durableCall(request, url, publicDurable, body));
  }
  const admin = under(path, ['admin']);
  if (admin !== undefined) return routes.admin(request.method ?? 'GET', admin, body);
  const app = under(path, routes.routePrefix);
  if (app === undefined) throw new HttpError(404, '');
  return routes.http(request, app, body);
}

function durableCall(request: IncomingMessage, url: URL, path: readonly string[], body: Buffer): DurableCall {
  const token = request.headers['x-ms-continuation-token'];
  return {
    method: request.method ?? 'GET',
    path,
    query: url.searchParams,
    contentType: request.headers['content-type'] ?? '',
    continuationToken: typeof token === 'string' ? token : undefined,
    body,
  };
}

function parseUrl(text: string): URL {
  try {
    return new URL(text, 'http://127.0.0.1');
  } catch {
    throw new HttpError(400, 'The request target is no URL.');
  }
}

function decodePath(pathname: string): string[] {
  try {
    return pathname
      .split('/')
      .filter((segment) => segment !== '')
      .map((segment) => decodeURIComponent(segment));
  } catch {
    throw new HttpError(400, 'The request path is not encoded properly.');
  }
}

function under(path: readonly string[], root: readonly string[]): readonly string[] | undefined {
  const isUnder = root.every((segment, index) => path[index]?.toLowerCase() === segment.toLowerCase());
  return isUnder ? path.slice(root.length) : undefined;
}
