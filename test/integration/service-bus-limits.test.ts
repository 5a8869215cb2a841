import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { expect, test } from 'vitest';
import { errorCode, receive, receiveOne, startTestBroker } from '../support/service-bus-broker.js';

const minute = 60_000;

test('a full queue refuses messages until some are gone, its dead letters included', async () => {
  const { client } = await startTestBroker([{ name: 'orders' }], { sizeFactor: 1 / 1024 });
  const sender = client.createSender('orders');
  const body = Buffer.alloc(200 * 1024);
  for (let sent = 0; sent < 5; sent += 1) await sender.sendMessages({ body });
  expect(await errorCode(sender.sendMessages({ body }))).toBe('QuotaExceeded');
  const receiver = client.createReceiver('orders');
  const [first, second] = await receive(receiver, 2);
  if (!first || !second) throw new Error('Two messages were expected.');
  await receiver.deadLetterMessage(first);
  expect(await errorCode(sender.sendMessages({ body }))).toBe('QuotaExceeded');
  await receiver.completeMessage(second);
  await sender.sendMessages({ body });
});

test('a batch that does not fit whole is refused whole', async () => {
  const { client, broker } = await startTestBroker([{ name: 'orders' }], { sizeFactor: 1 / 1024 });
  const sender = client.createSender('orders');
  for (let sent = 0; sent < 4; sent += 1) await sender.sendMessages({ body: Buffer.alloc(200 * 1024) });
  const batch = Array.from({ length: 3 }, () => ({ body: Buffer.alloc(80 * 1024) }));
  expect(await errorCode(sender.sendMessages(batch))).toBe('QuotaExceeded');
  expect(broker.counters()['orders.messages']).toBe(4);
});

test('a message id of more than 128 characters is refused, also in a batch', async () => {
  const { client, broker } = await startTestBroker([{ name: 'orders' }]);
  const sender = client.createSender('orders');
  // The client checks the ids of its own messages, not those of raw AMQP messages.
  const raw = { body: Buffer.from('2'), bodyType: 'data' as const, properties: { messageId: 'x'.repeat(129) } };
  expect(await errorCode(sender.sendMessages([{ body: 1 }, raw]))).toBe('GeneralError');
  expect(broker.counters()['orders.messages']).toBe(0);
});

test('the largest message that can be sent can be scheduled too', async () => {
  const { client, broker, clock } = await startTestBroker([{ name: 'orders' }]);
  const sender = client.createSender('orders');
  const message = { body: Buffer.alloc(262_000) };
  await sender.sendMessages(message);
  await sender.scheduleMessages(message, new Date(clock.now() + minute));
  expect(broker.counters()['orders.messages']).toBe(2);
});

test.each([
  ['one message of 300 KB', 1, 300_000],
  ['a thousand messages of together 500 KB', 1000, 300],
  ['messages of together 5 MB', 50, 100_000],
])('to schedule %s is refused as too large, without a wait', async (_name, count, size) => {
  const { client, broker, clock } = await startTestBroker([{ name: 'orders' }]);
  const sender = client.createSender('orders');
  const messages = Array.from({ length: count }, () => ({ body: Buffer.alloc(size) }));
  const at = new Date(clock.now() + minute);
  expect(await errorCode(sender.scheduleMessages(messages, at))).toBe('MessageSizeExceeded');
  await sender.scheduleMessages({ body: 'the link goes on' }, at);
  expect(broker.counters()['orders.messages']).toBe(1);
});

test('deferred messages of together 15 MB come in one answer', async () => {
  const { client } = await startTestBroker([{ name: 'orders' }]);
  const sender = client.createSender('orders');
  for (let sent = 0; sent < 60; sent += 1) await sender.sendMessages({ body: Buffer.alloc(250_000) });
  const receiver = client.createReceiver('orders');
  const messages = await receive(receiver, 60);
  await Promise.all(messages.map((message) => receiver.deferMessage(message)));
  const sequences = messages.flatMap(({ sequenceNumber }) => sequenceNumber ?? []);
  expect(await receiver.receiveDeferredMessages(sequences)).toHaveLength(60);
});

test.each([
  ['one of more than 32 KB', [33_000]],
  ['together more than 64 KB', [30_000, 30_000, 10_000]],
])('application properties, %s, are refused, in a batch and in a schedule too', async (_name, sizes) => {
  const { client, broker, clock } = await startTestBroker([{ name: 'orders' }]);
  const sender = client.createSender('orders');
  const applicationProperties = Object.fromEntries(sizes.map((size, index) => [`p${index}`, 'x'.repeat(size)]));
  const message = { body: 1, applicationProperties };
  expect(await errorCode(sender.sendMessages(message))).toBe('GeneralError');
  expect(await errorCode(sender.sendMessages([{ body: 2 }, message]))).toBe('GeneralError');
  expect(await errorCode(sender.scheduleMessages(message, new Date(clock.now() + minute)))).toBe('GeneralError');
  await sender.sendMessages({ body: 3, applicationProperties: { p: 'x'.repeat(32_000), q: 'x'.repeat(31_000) } });
  expect(broker.counters()['orders.messages']).toBe(1);
});

test('nobody receives from the dead letters of a queue that forwards them', async () => {
  const { client } = await startTestBroker([
    { name: 'orders', forwardDeadLetteredMessagesTo: 'graveyard' },
    { name: 'graveyard' },
  ]);
  const receiver = client.createReceiver('orders', { subQueueType: 'deadLetter' });
  await expect(receiver.receiveMessages(1)).rejects.toThrow(
    "'orders/$DeadLetterQueue' forwards its messages; receive from 'graveyard'.",
  );
});

test('a queue with forwardTo passes its messages on, scheduled ones at their time, and is not received from', async () => {
  const { client, clock } = await startTestBroker([
    { name: 'first', forwardTo: 'second' },
    { name: 'second', forwardTo: 'third' },
    { name: 'third' },
  ]);
  const sender = client.createSender('first');
  await sender.sendMessages([{ body: 1 }, { body: 2, scheduledEnqueueTimeUtc: new Date(clock.now() + minute) }]);
  const receiver = client.createReceiver('third', { receiveMode: 'receiveAndDelete' });
  expect((await receiveOne(receiver)).body).toBe(1);
  clock.advance(minute);
  const message = await receiveOne(receiver);
  expect(message).toMatchObject({ body: 2, enqueuedSequenceNumber: 2 });
  expect(await errorCode(client.createReceiver('first').receiveMessages(1))).toBe('GeneralError');
});

test('a full queue at the end of the way refuses the message at its beginning', async () => {
  const { client } = await startTestBroker(
    [{ name: 'first', maxSizeInMegabytes: 2048, forwardTo: 'second' }, { name: 'second' }],
    { sizeFactor: 1 / 1024 },
  );
  const sender = client.createSender('first');
  const body = Buffer.alloc(250 * 1024);
  for (let sent = 0; sent < 4; sent += 1) await sender.sendMessages({ body });
  expect(await errorCode(sender.sendMessages({ body }))).toBe('QuotaExceeded');
});

test('nobody sends to a dead-letter sub-queue', async () => {
  const { client } = await startTestBroker([{ name: 'orders' }]);
  const sender = client.createSender('orders/$DeadLetterQueue');
  expect(await errorCode(sender.sendMessages({ body: 1 }))).toBe('GeneralError');
});

test.each([
  ['sessions', 'orders'],
  ['topics', 'topic'],
])('%s are refused with the name of what has them', async (feature, entity) => {
  const { client } = await startTestBroker([{ name: 'orders' }]);
  const refused =
    feature === 'sessions' ? client.acceptNextSession(entity) : client.createReceiver(entity, 'sub').receiveMessages(1);
  await expect(refused).rejects.toThrow(/does not support (?:sessions|topics).*official Service Bus emulator or Azure/);
});

test('a client over HTTP or WebSockets is told what to do instead', async () => {
  const { broker } = await startTestBroker([{ name: 'orders' }]);
  const socket = connectTcp(broker.port, '127.0.0.1');
  socket.write('GET /$servicebus/websocket HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n\r\n');
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  expect(Buffer.concat(chunks).toString()).toMatch(
    /^HTTP\/1\.1 501 .*UseDevelopmentEmulator=true; for WebSockets use Azure/s,
  );
});

// C64
test('a client that tries TLS is refused at once instead of left waiting', async () => {
  const { broker } = await startTestBroker([{ name: 'orders' }]);
  const socket = connectTls({ port: broker.port, host: '127.0.0.1', rejectUnauthorized: false });
  await expect(new Promise((_resolve, reject) => socket.on('error', reject))).rejects.toThrow();
  expect(broker.counters()['refusedConnections']).toBe(1);
});

// C63
test('a port in use is named', async () => {
  const { broker } = await startTestBroker([{ name: 'orders' }]);
  await expect(startTestBroker([{ name: 'orders' }], { port: broker.port })).rejects.toThrow(
    new RegExp(`cannot listen on 127\\.0\\.0\\.1:${broker.port}.*EADDRINUSE.*Choose another port`),
  );
});
