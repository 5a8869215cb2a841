import { expect, test } from 'vitest';
import { startBroker, type Broker } from '../../local/service-bus/index.js';
import {
  cleanUp,
  createClient,
  receive,
  receiveOne,
  temporaryDirectory,
  topologyOf,
  until,
  type QueueProperties,
} from '../support/service-bus-broker.js';
import { createManualClock } from '../support/service-bus-clock.js';

const minute = 60_000;

/** A broker that can be closed and opened again on the same data. */
async function restartable(...queues: QueueProperties[]) {
  const dataDirectory = await temporaryDirectory();
  const clock = createManualClock();
  const start = async (declared = queues, port = 0): Promise<Broker> => {
    const topology = topologyOf(...declared);
    const broker = await startBroker({ port, dataDirectory, fsync: 'always', topology, clock });
    cleanUp(() => broker.close());
    return broker;
  };
  return { start, clock };
}

test('messages, their order, properties and numbers survive a restart', async () => {
  const { start } = await restartable({ name: 'orders' });
  const first = await start();
  const sender = createClient(first.connectionString).createSender('orders');
  await sender.sendMessages([
    { body: 'one', messageId: 'a', applicationProperties: { x: 1 } },
    { body: 'two', messageId: 'b' },
  ]);
  await first.close();
  const second = await start();
  const client = createClient(second.connectionString);
  await client.createSender('orders').sendMessages({ body: 'three', messageId: 'c' });
  const messages = await receive(client.createReceiver('orders'), 3);
  expect(
    messages.map(({ body, messageId, sequenceNumber }) => [body as string, messageId, sequenceNumber?.toNumber()]),
  ).toEqual([
    ['one', 'a', 1],
    ['two', 'b', 2],
    ['three', 'c', 3],
  ]);
  expect(messages[0]?.applicationProperties).toEqual({ x: 1 });
});

// Q3
test('a message that was locked comes back with its delivery counted', async () => {
  const { start } = await restartable({ name: 'orders' });
  const first = await start();
  const client = createClient(first.connectionString);
  await client.createSender('orders').sendMessages({ body: 'x' });
  await receiveOne(client.createReceiver('orders'));
  await first.close();
  const second = await start();
  expect((await receiveOne(createClient(second.connectionString).createReceiver('orders'))).deliveryCount).toBe(1);
});

test('a message whose last delivery was lost with the broker is dead-lettered at the start', async () => {
  const { start } = await restartable({ name: 'orders', maxDeliveryCount: 1 });
  const first = await start();
  const client = createClient(first.connectionString);
  await client.createSender('orders').sendMessages({ body: 'x' });
  await receiveOne(client.createReceiver('orders'));
  await first.close();
  const second = await start();
  expect(second.counters()).toMatchObject({ 'orders.messages': 0, 'orders/$DeadLetterQueue.messages': 1 });
});

test('every outcome survives a restart', async () => {
  const { start, clock } = await restartable(
    { name: 'orders', forwardDeadLetteredMessagesTo: 'graveyard' },
    { name: 'graveyard' },
  );
  const first = await start();
  const client = createClient(first.connectionString);
  const sender = client.createSender('orders');
  await sender.sendMessages(['completed', 'abandoned', 'deferred', 'dead'].map((body) => ({ body })));
  await sender.scheduleMessages({ body: 'scheduled' }, new Date(clock.now() + minute));
  const receiver = client.createReceiver('orders');
  const [completed, abandoned, deferred, dead] = await receive(receiver, 4);
  if (!completed || !abandoned || !deferred || !dead) throw new Error('Four messages were expected.');
  await receiver.completeMessage(completed);
  await receiver.abandonMessage(abandoned, { because: 'test' });
  await receiver.deferMessage(deferred);
  await receiver.deadLetterMessage(dead, { deadLetterReason: 'Bad', deadLetterErrorDescription: 'very' });
  await first.close();

  const second = await start();
  const again = createClient(second.connectionString).createReceiver('orders');
  const peeked = await again.peekMessages(10);
  expect(peeked.map(({ body, state, deliveryCount }) => [body as string, state, deliveryCount])).toEqual([
    ['abandoned', 'active', 1],
    ['deferred', 'deferred', 1],
    ['scheduled', 'scheduled', 0],
  ]);
  expect(peeked[0]?.applicationProperties).toEqual({ because: 'test' });
  const [buried] = await createClient(second.connectionString).createReceiver('graveyard').peekMessages(10);
  expect(buried).toMatchObject({ body: 'dead', deadLetterReason: 'Bad', deadLetterSource: 'orders' });
});

test('duplicates are still known, and time has gone on, after a restart', async () => {
  const { start, clock } = await restartable({
    name: 'orders',
    requiresDuplicateDetection: true,
    defaultMessageTimeToLive: 'PT5M',
  });
  const first = await start();
  const sender = createClient(first.connectionString).createSender('orders');
  await sender.sendMessages({ body: 1, messageId: 'a' });
  await sender.scheduleMessages({ body: 2, messageId: 'b' }, new Date(clock.now() + 6 * minute));
  await first.close();
  clock.advance(6 * minute);
  const second = await start();
  const client = createClient(second.connectionString);
  await client.createSender('orders').sendMessages([
    { body: 3, messageId: 'a' },
    { body: 4, messageId: 'b' },
  ]);
  expect(second.counters()).toMatchObject({ 'orders.duplicates': 2, 'orders.messages': 1 });
  expect((await receiveOne(client.createReceiver('orders'))).body).toBe(2);
});

test('a topology without a queue that still holds messages is refused, and names it', async () => {
  const { start } = await restartable({ name: 'orders' }, { name: 'other' });
  const first = await start();
  const client = createClient(first.connectionString);
  await client.createSender('orders').sendMessages({ body: 'x' });
  await first.close();
  await expect(start([{ name: 'other' }])).rejects.toThrow(/orders \(1\)/);
  const second = await start();
  const receiver = createClient(second.connectionString).createReceiver('orders', { receiveMode: 'receiveAndDelete' });
  await receiveOne(receiver);
  await second.close();
  await expect(start([{ name: 'other' }])).resolves.toBeDefined();
});

test('a subscription goes on by itself when its broker has been stopped and started again', async () => {
  const { start } = await restartable({ name: 'orders' });
  const first = await start();
  const received: unknown[] = [];
  createClient(first.connectionString, { maxRetries: 50 })
    .createReceiver('orders', { receiveMode: 'receiveAndDelete' })
    .subscribe({
      processMessage: ({ body }) => {
        received.push(body);
        return Promise.resolve();
      },
      processError: () => Promise.resolve(),
    });
  await createClient(first.connectionString).createSender('orders').sendMessages({ body: 'before' });
  await until(() => received.length === 1);
  await first.close();
  const second = await start(undefined, first.port);
  await createClient(second.connectionString).createSender('orders').sendMessages({ body: 'after' });
  await until(() => received.length === 2);
  expect(received).toEqual(['before', 'after']);
});
