import { expect, test } from 'vitest';
import { errorCode, receiveOne, startTestBroker } from '../support/service-bus-broker.js';

const minute = 60_000;

test('an expired message is dropped, or dead-lettered where the queue says so', async () => {
  const { client, broker, clock } = await startTestBroker([
    { name: 'dropping' },
    { name: 'keeping', deadLetteringOnMessageExpiration: true },
  ]);
  for (const queue of ['dropping', 'keeping']) {
    await client.createSender(queue).sendMessages({ body: queue, timeToLive: minute });
  }
  clock.advance(minute);
  expect(broker.counters()).toMatchObject({ 'dropping.messages': 0, 'keeping.messages': 0, expired: 2 });
  const [dead] = await client.createReceiver('keeping', { subQueueType: 'deadLetter' }).peekMessages(1);
  expect(dead).toMatchObject({ body: 'keeping', deadLetterReason: 'TTLExpiredException' });
});

test("the queue's time to live bounds the sender's", async () => {
  const { client, broker, clock } = await startTestBroker([{ name: 'orders', defaultMessageTimeToLive: 'PT1M' }]);
  await client.createSender('orders').sendMessages([{ body: 1 }, { body: 2, timeToLive: 10 * minute }]);
  clock.advance(minute - 1);
  expect(broker.counters()['orders.messages']).toBe(2);
  clock.advance(1);
  expect(broker.counters()['orders.messages']).toBe(0);
});

test('a locked message does not expire under its holder', async () => {
  const { client, broker, clock } = await startTestBroker([{ name: 'orders' }]);
  await client.createSender('orders').sendMessages([
    { body: 'held', timeToLive: minute / 2 },
    { body: 'given back', timeToLive: minute / 2 },
  ]);
  const receiver = client.createReceiver('orders');
  const held = await receiveOne(receiver);
  const givenBack = await receiveOne(receiver);
  clock.advance(minute / 2);
  await receiver.completeMessage(held);
  await receiver.abandonMessage(givenBack);
  expect(broker.counters()).toMatchObject({ 'orders.messages': 0, 'orders.expired': 1 });
});

test('dead letters do not expire, forwarded ones only by the time to live of their new queue', async () => {
  const { client, broker, clock } = await startTestBroker([
    { name: 'orders', deadLetteringOnMessageExpiration: true },
    { name: 'requests', deadLetteringOnMessageExpiration: true, forwardDeadLetteredMessagesTo: 'graveyard' },
    { name: 'graveyard', defaultMessageTimeToLive: 'PT10M' },
  ]);
  for (const queue of ['orders', 'requests']) {
    await client.createSender(queue).sendMessages({ body: 1, timeToLive: minute });
  }
  clock.advance(minute);
  clock.advance(9 * minute);
  expect(broker.counters()).toMatchObject({ 'orders/$DeadLetterQueue.messages': 1, 'graveyard.messages': 1 });
  clock.advance(minute);
  expect(broker.counters()).toMatchObject({ 'orders/$DeadLetterQueue.messages': 1, 'graveyard.messages': 0 });
});

test('a scheduled message comes at its time with a new sequence number and its state', async () => {
  const { client, clock } = await startTestBroker([{ name: 'orders' }]);
  const sender = client.createSender('orders');
  const at = new Date(clock.now() + 10 * minute);
  const [sequence] = await sender.scheduleMessages({ body: 'later', timeToLive: minute }, at);
  const receiver = client.createReceiver('orders');
  clock.advance(10 * minute - 1);
  expect(await receiver.receiveMessages(1, { maxWaitTimeInMs: 20 })).toEqual([]);
  clock.advance(1);
  const message = await receiveOne(receiver);
  expect(message).toMatchObject({ body: 'later', state: 'scheduled', enqueuedSequenceNumber: sequence?.toNumber() });
  expect(message.sequenceNumber?.toNumber()).toBe(2);
  expect(message.scheduledEnqueueTimeUtc).toEqual(at);
  expect(message.enqueuedTimeUtc?.getTime()).toBe(clock.now());
});

test('a message sent with an enqueue time is scheduled like one of scheduleMessages', async () => {
  const { client, clock } = await startTestBroker([{ name: 'orders' }]);
  const scheduledEnqueueTimeUtc = new Date(clock.now() + minute);
  await client.createSender('orders').sendMessages([{ body: 'later', scheduledEnqueueTimeUtc }, { body: 'now' }]);
  const receiver = client.createReceiver('orders', { receiveMode: 'receiveAndDelete' });
  expect((await receiveOne(receiver)).body).toBe('now');
  clock.advance(minute);
  expect((await receiveOne(receiver)).body).toBe('later');
});

test('a scheduled message can be cancelled, once', async () => {
  const { client, broker, clock } = await startTestBroker([{ name: 'orders' }]);
  const sender = client.createSender('orders');
  const sequences = await sender.scheduleMessages([{ body: 1 }, { body: 2 }], new Date(clock.now() + minute));
  await sender.cancelScheduledMessages(sequences);
  expect(broker.counters()['orders.messages']).toBe(0);
  expect(await errorCode(sender.cancelScheduledMessages(sequences))).toBe('MessageNotFound');
});

// C1
test('a repeated message id is accepted and dropped for the length of the window, also after the first was consumed', async () => {
  const { client, broker, clock } = await startTestBroker([
    { name: 'orders', requiresDuplicateDetection: true, duplicateDetectionHistoryTimeWindow: 'PT10M' },
  ]);
  const sender = client.createSender('orders');
  await sender.sendMessages({ body: 1, messageId: 'a' });
  await sender.sendMessages([
    { body: 2, messageId: 'a' },
    { body: 3, messageId: 'b' },
    { body: 4, messageId: 'b' },
  ]);
  expect(broker.counters()).toMatchObject({ 'orders.messages': 2, 'orders.duplicates': 2, 'orders.sends': 4 });
  const receiver = client.createReceiver('orders', { receiveMode: 'receiveAndDelete' });
  await receiveOne(receiver);
  await receiveOne(receiver);
  clock.advance(10 * minute - 1);
  await sender.sendMessages({ body: 5, messageId: 'a' });
  expect(broker.counters()['orders.messages']).toBe(0);
  clock.advance(1);
  await sender.sendMessages({ body: 6, messageId: 'a' });
  expect((await receiveOne(receiver)).body).toBe(6);
});

test('without duplicate detection every message counts', async () => {
  const { client, broker } = await startTestBroker([{ name: 'orders' }]);
  const sender = client.createSender('orders');
  await sender.sendMessages({ body: 1, messageId: 'a' });
  await sender.sendMessages({ body: 1, messageId: 'a' });
  expect(broker.counters()['orders.messages']).toBe(2);
});

test('a scheduled message counts as the first of its id from the moment it is scheduled', async () => {
  const { client, broker, clock } = await startTestBroker([{ name: 'orders', requiresDuplicateDetection: true }]);
  const sender = client.createSender('orders');
  await sender.scheduleMessages({ body: 1, messageId: 'a' }, new Date(clock.now() + minute));
  await sender.sendMessages({ body: 2, messageId: 'a' });
  clock.advance(minute);
  expect(broker.counters()['orders.messages']).toBe(1);
  expect((await receiveOne(client.createReceiver('orders'))).body).toBe(1);
});
