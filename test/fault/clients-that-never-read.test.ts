import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createOrderClient } from '../../client/index.js';
import { startStack } from '../../local/stack.js';
import type { Stack } from '../../local/stack.js';
import { anOrder } from '../support/builders.js';

const requests = 20_000;
const limitMs = 60_000;
let stack: Stack;
const sockets: Socket[] = [];

beforeAll(async () => {
  stack = await startStack();
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await stack.stop();
});

/** Sends many requests over one connection and never takes an answer, until the other side stops reading. */
async function askWithoutReading(address: string): Promise<void> {
  const { hostname, port, host } = new URL(address);
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  await once(socket, 'connect');
  socket.pause();
  socket.on('error', () => undefined);
  const request = `GET /nothing HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
  for (let count = 0; count < requests; count += 1) if (!socket.write(request)) return;
}

it(
  'clients that ask and never read their answers keep nobody from an order',
  async () => {
    const many = Array.from({ length: 10 });
    await Promise.all(many.flatMap(() => [askWithoutReading(stack.cosmosEndpoint), askWithoutReading(stack.hostUrl)]));
    const client = createOrderClient({ serviceBus: stack.connectionString, application: 'web-shop' });
    try {
      const order = anOrder();
      await client.submitOrder(order);
      const end = await client.waitForStatus(order.orderId, { timeoutMs: limitMs });
      expect(end.status).toBe('OrderCompleted');
    } finally {
      await client.close();
    }
  },
  limitMs + 30_000,
);
