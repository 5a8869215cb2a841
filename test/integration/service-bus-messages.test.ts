import { expect, test } from 'vitest';
import { errorCode, receive, receiveOne, startTestBroker } from '../support/service-bus-broker.js';

test('a message arrives with its body, ids, properties and the annotations of the service', async () => {
  const { client, clock } = await startTestBroker([{ name: 'orders' }]);
  await client.createSender('orders').sendMessages({
    body: { items: [1, 'two', null] },
    messageId: 'order-1',
    correlationId: 'c-1',
    subject: 'new',
    to: 'somebody',
    replyTo: 'status-web-shop',
    contentType: 'application/json',
    partitionKey: 'p',
    sessionId: undefined,
    timeToLive: 60_000,
    applicationProperties: { text: 'a', number: 1.5, whole: 7, yes: true, nothing: null },
  });

  const message = await receiveOne(client.createReceiver('orders'));

  expect(message.body).toEqual({ items: [1, 'two', null] });
  expect(message).toMatchObject({
    messageId: 'order-1',
    correlationId: 'c-1',
    subject: 'new',
    to: 'somebody',
    replyTo: 'status-web-shop',
    contentType: 'application/json',
    partitionKey: 'p',
    timeToLive: 60_000,
    deliveryCount: 0,
    state: 'active',
    applicationProperties: { text: 'a', number: 1.5, whole: 7, yes: true, nothing: null },
  });
  expect(message.sequenceNumber?.toNumber()).toBe(1);
  expect(message.enqueuedSequenceNumber).toBe(0);
  expect(message.enqueuedTimeUtc?.getTime()).toBe(clock.now());
  expect(message.lockedUntilUtc?.getTime()).toBe(clock.now() + 60_000);
});

test.each([
  ['text', 'plain'],
  ['bytes', Buffer.from([0, 1, 255])],
  ['a number', 42],
  ['null', null],
])('a body of %s arrives unchanged', async (_name, body) => {
  const { client } = await startTestBroker([{ name: 'orders' }]);
  await client.createSender('orders').sendMessages({ body });
  expect((await receiveOne(client.createReceiver('orders'))).body).toEqual(body);
});

test.each(['value', 'sequence', 'data'] as const)(
  'a raw AMQP message with a %s body keeps its type',
  async (bodyType) => {
    const { client } = await startTestBroker([{ name: 'orders' }]);
    const body = bodyType === 'data' ? Buffer.from('x') : bodyType === 'sequence' ? [1, 'a'] : { key: 'value' };
    await client.createSender('orders').sendMessages({
      body,
      bodyType,
      messageAnnotations: { 'x-mine': 'kept', 'x-opt-sequence-number': 999 },
      header: { durable: true, priority: 7, firstAcquirer: true },
      footer: { checksum: 'f' },
    });
    const message = await receiveOne(client.createReceiver('orders', { skipParsingBodyAsJson: true }));
    const raw = message._rawAmqpMessage;
    expect(raw.bodyType).toBe(bodyType);
    expect(message.body).toEqual(body);
    expect(raw.header).toMatchObject({ durable: true, priority: 7, firstAcquirer: true, deliveryCount: 0 });
    expect(raw.footer).toEqual({ checksum: 'f' });
    expect(raw.messageAnnotations?.['x-mine']).toBe('kept');
    expect(message.sequenceNumber?.toNumber()).toBe(1);
  },
);

test('a message without an id gets one, because clients cannot renew a lock without it', async () => {
  const { client } = await startTestBroker([{ name: 'orders' }]);
  await client.createSender('orders').sendMessages({ body: 'x' });
  expect((await receiveOne(client.createReceiver('orders'))).messageId).toMatch(/^[0-9a-f]{32}$/);
});

test('messages arrive in the order of sending, an abandoned one back in its place', async () => {
  const { client } = await startTestBroker([{ name: 'orders' }]);
  const sender = client.createSender('orders');
  await sender.sendMessages([{ body: 1 }, { body: 2 }]);
  await sender.sendMessages({ body: 3 });
  const receiver = client.createReceiver('orders');
  const [first] = await receive(receiver, 2);
  if (first !== undefined) await receiver.abandonMessage(first);
  expect((await receive(receiver, 2)).map(({ body }) => body as number)).toEqual([1, 3]);
});

test('a batch from createMessageBatch is bounded by 256 KB and arrives whole', async () => {
  const { client } = await startTestBroker([{ name: 'orders' }]);
  const sender = client.createSender('orders');
  const batch = await sender.createMessageBatch();
  expect(batch.maxSizeInBytes).toBe(256 * 1024);
  let count = 0;
  while (batch.tryAddMessage({ body: 'x'.repeat(5000) })) count += 1;
  await sender.sendMessages(batch);
  expect(await receive(client.createReceiver('orders'), count)).toHaveLength(count);
});

test('a message larger than 256 KB is refused and the link goes on', async () => {
  const { client, broker } = await startTestBroker([{ name: 'orders' }]);
  const sender = client.createSender('orders');
  expect(await errorCode(sender.sendMessages({ body: Buffer.alloc(300 * 1024) }))).toBe('MessageSizeExceeded');
  await sender.sendMessages({ body: Buffer.alloc(255 * 1024) });
  expect(broker.counters()['orders.messages']).toBe(1);
});

test('message ids that differ only in their type are different ids', async () => {
  const { client, broker } = await startTestBroker([{ name: 'orders', requiresDuplicateDetection: true }]);
  const sender = client.createSender('orders');
  await sender.sendMessages({ body: 1, messageId: '7' });
  await sender.sendMessages({ body: 2, messageId: 7 });
  expect(broker.counters()['orders.messages']).toBe(2);
});

test('a sequence number is never used twice', async () => {
  const { client } = await startTestBroker([{ name: 'orders' }]);
  const sender = client.createSender('orders');
  const receiver = client.createReceiver('orders', { receiveMode: 'receiveAndDelete' });
  await sender.sendMessages({ body: 1 });
  await receiveOne(receiver);
  await sender.sendMessages({ body: 2 });
  expect((await receiveOne(receiver)).sequenceNumber?.toNumber()).toBe(2);
});
