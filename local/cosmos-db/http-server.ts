/** Listens on 127.0.0.1. */
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HandlerParts } from './http-handler.js';
import { createHandler } from './http-handler.js';

/** Longer than clients keep idle connections, so that none closes under a request. */
const KEEP_ALIVE_MS = 10 * 60 * 1000;
/** What a running request has to end in when the server closes. */
const CLOSE_GRACE_MS = 1000;

export interface HttpServer {
  readonly port: number;
  /** Stops accepting, lets running requests end, closes all connections. */
  close(): Promise<void>;
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const force = setTimeout(() => {
      server.closeAllConnections();
    }, CLOSE_GRACE_MS);
    server.close(() => {
      clearTimeout(force);
      resolve();
    });
    server.closeIdleConnections();
  });
}

/** Starts listening; port 0 takes a free one. */
export async function startHttpServer(port: number, parts: HandlerParts): Promise<HttpServer> {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS, noDelay: true }, createHandler(parts));
  return { port: await listen(server, port), close: () => close(server) };
}
