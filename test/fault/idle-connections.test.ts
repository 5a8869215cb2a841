import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { statusOf, withServer } from '../support/cosmos-db.js';
import { startHostProcess } from '../support/functions-host-process.js';

/** Runs `use` while a thousand clients are connected, half of them in the middle of a request. */
async function amongIdleClients(port: number, use: () => Promise<void>): Promise<void> {
  const sockets: Socket[] = [];
  for (let count = 0; count < 1000; count += 1) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    await once(socket, 'connect');
    if (count % 2 === 0) socket.write('POST /dbs/d/colls/c/docs HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{"i');
    sockets.push(socket);
  }
  await use();
  for (const socket of sockets) socket.destroy();
}

it('a thousand idle connections do not disturb Cosmos DB', () =>
  withServer({}, async ({ server, container }) => {
    await amongIdleClients(server.port, async () => {
      expect(await statusOf(container('orders').items.create({ id: 'A-1' }))).toBeUndefined();
    });
  }));

it('a thousand idle connections do not disturb the Functions host', async () => {
  const host = await startHostProcess('durable-app');
  await amongIdleClients(Number(new URL(host.url).port), async () => {
    await host.start('three-activities', 'among-idle');
    expect((await host.status('among-idle')).runtimeStatus).toBe('Completed');
  });
});
