import type { ServiceBusReceivedMessage, ServiceBusSender } from '@azure/service-bus';
import rhea from 'rhea';
import { expect, test } from 'vitest';
import { connectAmqp } from '../support/service-bus-amqp-client.js';
import { createClient, errorCode, receive, receiveOne, startTestBroker, until } from '../support/service-bus-broker.js';

async function sendMany(sender: ServiceBusSender, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent += 500) {
    const size = Math.min(500, count - sent);
    await sender.sendMessages(Array.from({ length: size }, (_, index) => ({ body: sent + index })));
  }
}

const many = 5000; // More than twice the 2048 deliveries that a session keeps track of.

test('one link settles more messages than a session has slots for', async () => {
  const { client, broker } = await startTestBroker([{ name: 'orders' }]);
  await sendMany(client.createSender('orders'), many);
  const receiver = client.createReceiver('orders');
  for (let received = 0; received < many;) {
    const messages = await receiver.receiveMessages(1000, { maxWaitTimeInMs: 3000 });
    await Promise.all(messages.map((message) => receiver.completeMessage(message)));
    received += messages.length;
  }
  expect(broker.counters()).toMatchObject({ 'orders.messages': 0, 'orders.settlements': many });
});

test('one link takes more messages than a session has slots for in receive-and-delete mode', async () => {
  const { client, broker } = await startTestBroker([{ name: 'orders' }]);
  await sendMany(client.createSender('orders'), many);
  const receiver = client.createReceiver('orders', { receiveMode: 'receiveAndDelete' });
  const bodies = (await receive(receiver, many)).map(({ body }) => body as number);
  expect(bodies).toEqual(Array.from({ length: many }, (_, index) => index));
  expect(broker.counters()['orders.messages']).toBe(0);
});

test('a subscription gets everything, never more at once than it asked for', async () => {
  const { client, broker } = await startTestBroker([{ name: 'orders' }]);
  const receiver = client.createReceiver('orders');
  let running = 0;
  let most = 0;
  const seen = new Set<unknown>();
  receiver.subscribe(
    {
      processMessage: async ({ body }) => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setImmediate(resolve));
        seen.add(body);
        running -= 1;
      },
      processError: ({ error }) => Promise.reject(error),
    },
    { maxConcurrentCalls: 4 },
  );
  await sendMany(client.createSender('orders'), 500);
  await until(() => broker.counters()['orders.messages'] === 0);
  expect(seen.size).toBe(500);
  expect(most).toBeLessThanOrEqual(4);
});

test('a subscription whose handler fails gives the message back', async () => {
  const { client } = await startTestBroker([{ name: 'orders' }]);
  await client.createSender('orders').sendMessages({ body: 'x' });
  const counts: (number | undefined)[] = [];
  await new Promise<void>((resolve) => {
    client.createReceiver('orders').subscribe({
      processMessage: ({ deliveryCount }) => {
        counts.push(deliveryCount);
        if (counts.length < 3) return Promise.reject(new Error('not yet'));
        resolve();
        return Promise.resolve();
      },
      processError: () => Promise.resolve(),
    });
  });
  expect(counts).toEqual([0, 1, 2]);
});

test('a receive on an empty queue ends after its waiting time, and the link goes on', async () => {
  const { client } = await startTestBroker([{ name: 'orders' }]);
  const receiver = client.createReceiver('orders');
  expect(await receiver.receiveMessages(5, { maxWaitTimeInMs: 20 })).toEqual([]);
  await client.createSender('orders').sendMessages({ body: 'x' });
  expect((await receiveOne(receiver)).body).toBe('x');
});

test('a waiting receiver gets a message as soon as it is sent', async () => {
  const { client } = await startTestBroker([{ name: 'orders' }]);
  const waiting = receiveOne(client.createReceiver('orders'));
  await client.createSender('orders').sendMessages({ body: 'x' });
  expect((await waiting).body).toBe('x');
});

test('single messages go to the waiting consumers in turn', async () => {
  const { client, broker } = await startTestBroker([{ name: 'orders' }]);
  const counts = [0, 0, 0];
  const sender = client.createSender('orders');
  for (const index of counts.keys()) {
    createClient(broker.connectionString)
      .createReceiver('orders')
      .subscribe({
        processMessage: () => {
          counts[index] = (counts[index] ?? 0) + 1;
          return Promise.resolve();
        },
        processError: ({ error }) => Promise.reject(error),
      });
  }
  await until(() => broker.counters()['connections'] === 3);
  for (let sent = 0; sent < 60; sent += 1) await sender.sendMessages({ body: sent });
  await until(() => broker.counters()['orders.messages'] === 0);
  expect(Math.min(...counts)).toBeGreaterThanOrEqual(5);
});

test('messages on their way to a client that has gone are locked until their lock ends', async () => {
  const { client, broker, clock } = await startTestBroker([{ name: 'orders' }]);
  await client.createSender('orders').sendMessages([{ body: 1 }, { body: 2 }]);
  const leaving = createClient(broker.connectionString);
  await receive(leaving.createReceiver('orders'), 2);
  await leaving.close();
  const receiver = client.createReceiver('orders');
  expect(await receiver.receiveMessages(2, { maxWaitTimeInMs: 20 })).toEqual([]);
  clock.advance(60_000);
  expect((await receive(receiver, 2)).map(({ deliveryCount }) => deliveryCount)).toEqual([1, 1]);
});

test('a client that never settles stops itself and nobody else', async () => {
  const { client, broker } = await startTestBroker([{ name: 'orders' }]);
  await sendMany(client.createSender('orders'), 3000);
  const hoarder = createClient(broker.connectionString);
  hoarder
    .createReceiver('orders', { maxAutoLockRenewalDurationInMs: 0 })
    .subscribe(
      { processMessage: () => new Promise(() => undefined), processError: () => Promise.resolve() },
      { maxConcurrentCalls: 3000 },
    );
  await until(() => (broker.counters()['orders.locked'] ?? 0) >= 2000);
  const receiver = client.createReceiver('orders');
  const messages = await receive(receiver, 500);
  await Promise.all(messages.map((message) => receiver.completeMessage(message)));
  expect(broker.counters()['orders.settlements']).toBe(500);
});

test('peeking shows every message in order and changes none', async () => {
  const { client } = await startTestBroker([{ name: 'orders' }]);
  const sender = client.createSender('orders');
  const [scheduled] = await sender.scheduleMessages({ body: 'later' }, new Date(Date.now() + 3_600_000));
  await sendMany(sender, 3);
  const receiver = client.createReceiver('orders');
  const locked = await receiveOne(receiver);
  const peeked = await receiver.peekMessages(10);
  expect(peeked.map(({ body, state }) => [body as unknown, state])).toEqual([
    ['later', 'scheduled'],
    [0, 'active'],
    [1, 'active'],
    [2, 'active'],
  ]);
  expect(peeked[1]?.sequenceNumber).toEqual(locked.sequenceNumber);
  expect(scheduled?.toNumber()).toBe(1);
  expect(await receiver.peekMessages(10)).toEqual([]); // The receiver goes on behind what it has seen.
});

test('peeking many large messages comes in answers that fit a frame', async () => {
  const { client } = await startTestBroker([{ name: 'orders' }]);
  const sender = client.createSender('orders');
  for (let sent = 0; sent < 5; sent += 1) await sender.sendMessages({ body: Buffer.alloc(100_000) });
  const receiver = client.createReceiver('orders');
  const seen: ServiceBusReceivedMessage[] = [];
  for (let more = await receiver.peekMessages(5); more.length > 0; more = await receiver.peekMessages(5)) {
    seen.push(...more);
  }
  expect(seen).toHaveLength(5);
});

test('a peek that leaves out the bodies has all the rest', async () => {
  const { client, broker } = await startTestBroker([{ name: 'orders' }]);
  for (const messageId of ['a', 'b', 'c', 'd', 'e']) {
    const message = { body: Buffer.alloc(100_000), messageId, applicationProperties: { kept: 1 } };
    await client.createSender('orders').sendMessages(message);
  }
  const { authorize, request } = await connectAmqp(broker);
  await authorize('orders');
  const answer = await request('orders/$management', {
    application_properties: { operation: 'com.microsoft:peek-message' },
    body: { 'from-sequence-number': 1, 'message-count': 5, 'omit-message-body': true },
  });
  const { messages } = answer.body as { messages: { message: Buffer }[] };
  const peeked = messages.map(({ message }) => rhea.message.decode(message));
  expect(peeked.map(({ message_id: id }) => String(id))).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(peeked[0]).toMatchObject({ application_properties: { kept: 1 } });
  expect(peeked[0]).not.toHaveProperty('body');
});

test('receiving from a queue that does not exist fails at once', async () => {
  const { client } = await startTestBroker([{ name: 'orders' }]);
  expect(await errorCode(client.createReceiver('nowhere').receiveMessages(1))).toBe('MessagingEntityNotFound');
  expect(await errorCode(client.createSender('nowhere').sendMessages({ body: 1 }))).toBe('MessagingEntityNotFound');
});

test('queue names do not depend on case', async () => {
  const { client } = await startTestBroker([{ name: 'Orders' }]);
  await client.createSender('oRDERS').sendMessages({ body: 'x' });
  expect((await receiveOne(client.createReceiver('orders'))).body).toBe('x');
});
