import { once } from 'node:events';
import { createServer } from 'node:net';
import { ServiceBusClient } from '@azure/service-bus';
import { expect, it } from 'vitest';
import { startBroker, type Broker } from '../../local/service-bus/index.js';
import { cleanUp, startHostProcess, temporaryDirectory } from '../support/functions-host-process.js';

/** Takes the broker's place, and hangs up on every client until so many have come. */
async function turnAway(port: number, clients: number): Promise<void> {
  let left = clients;
  const server = createServer((socket) => {
    socket.destroy();
    left -= 1;
    if (left === 0) server.close();
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'close');
}

it('a Service Bus trigger comes back by itself when the broker was away, and says once that it is gone', async () => {
  const dataDirectory = temporaryDirectory();
  const topology = { serviceBus: { queues: ['orders-eu', 'raw', 'kept', 'slow'].map((name) => ({ name })) } };
  const start = (port?: number): Promise<Broker> =>
    startBroker({ dataDirectory, fsync: 'never', topology, ...(port === undefined ? {} : { port }) });
  const send = async ({ connectionString }: Broker, messageId: string): Promise<void> => {
    const client = new ServiceBusClient(connectionString);
    await client.createSender('orders-eu').sendMessages({ messageId, body: { messageId } });
    await client.close();
  };

  const first = await start();
  const settings = { Bus: first.connectionString, OrdersQueue: 'orders-eu' };
  const host = await startHostProcess('service-bus-app', { settings });
  await send(first, 'before');
  await host.line(/Executed 'Functions\.orders' \(Succeeded/);
  await first.close();
  await host.line(/^warn: Service Bus trigger/);
  await turnAway(first.port, 15);
  const second = await start(first.port);
  cleanUp(() => second.close());
  await send(second, 'after');

  // What was handled but not yet completed when the broker went comes once more.
  const handled = async (): Promise<readonly string[]> => {
    const { received } = (await host.request('GET', 'api/received')).body as {
      readonly received: readonly { readonly body: { readonly messageId: string } }[];
    };
    return [...new Set(received.map(({ body }) => body.messageId))];
  };
  await expect.poll(handled, { timeout: 20_000 }).toEqual(['before', 'after']);
  const complaints = host.lines.filter((line) => /^warn: Service Bus trigger/.test(line));
  const triggers = complaints.map((line) => /'([^']+)'/.exec(line)?.[1]);
  expect(new Set(triggers).size).toBe(triggers.length);
});
