import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createConsole } from '../../local/functions-host/console.js';
import { startHttpServer } from '../../local/functions-host/http-server.js';
import type { Routes } from '../../local/functions-host/http-server.js';

/** A server whose app answers once it is told to. */
async function startServer() {
  const running: (() => void)[] = [];
  const unused = () => Promise.resolve({ status: 200 });
  const routes: Routes = {
    routePrefix: ['api'],
    http: () =>
      new Promise((resolve) => {
        running.push(() => {
          resolve({ status: 200, body: 'done' });
        });
      }),
    durable: unused,
    admin: unused,
    isDurableKey: () => true,
  };
  const server = await startHttpServer(
    0,
    createConsole(() => undefined),
  );
  server.serve(routes);
  return { server, running };
}

async function open(port: number, text = ''): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  if (text !== '') socket.write(text);
  return socket;
}

describe('the HTTP server of the host', () => {
  it('closes although clients keep silent connections and send half of a request', async () => {
    const { server } = await startServer();
    const sockets = await Promise.all(Array.from({ length: 50 }, () => open(server.port)));
    const half = 'POST /api/orders HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"orderId":';
    sockets.push(await open(server.port, half), await open(server.port, 'GET /api/or'));
    const closed = Promise.all(sockets.map((socket) => once(socket, 'close')));
    await fetch(`http://127.0.0.1:${server.port}/nowhere`); // What was sent before has arrived.
    await server.close();
    await closed;
  });

  it('lets a handler that runs answer first, and then closes its connection', async () => {
    const { server, running } = await startServer();
    const socket = await open(server.port, 'GET /api/orders HTTP/1.1\r\nHost: x\r\n\r\n');
    let received = '';
    socket.on('data', (chunk) => (received += chunk.toString()));
    const ended = once(socket, 'close');
    while (running.length === 0) await new Promise(setImmediate);
    const closed = server.close();
    running[0]?.();
    await closed;
    await ended;
    expect(received).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*done$/);
  });
});
