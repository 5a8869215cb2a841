import { once } from 'node:events';
import { expect, test } from 'vitest';
import type { FaultRule } from '../../local/faults/index.js';
import { connectAmqp } from '../support/service-bus-amqp-client.js';
import { createClient, errorCode, receive, receiveOne, startTestBroker, until } from '../support/service-bus-broker.js';

const lockMs = 60_000;

async function startWith(...rules: FaultRule[]) {
  const started = await startTestBroker([{ name: 'orders' }, { name: 'other' }]);
  started.broker.setFaults({ seed: 1, rules });
  return started;
}

function fails(promise: Promise<unknown>): Promise<boolean> {
  return promise.then(
    () => false,
    () => true,
  );
}

test('send + refuse: the client gets the error, nothing is stored, other queues are not hit', async () => {
  const { client, broker } = await startWith({
    operation: 'send',
    entity: 'orders',
    action: 'refuse',
    error: 'com.microsoft:server-busy',
    times: 1,
  });
  await client.createSender('other').sendMessages({ body: 1 });
  const sender = client.createSender('orders');
  expect(await errorCode(sender.sendMessages({ body: 1 }))).toBe('ServiceBusy');
  await sender.sendMessages({ body: 2 });
  expect(broker.counters()).toMatchObject({ 'orders.messages': 1, 'other.messages': 1 });
});

test('send + drop: the client believes it, nothing is stored', async () => {
  const { client, broker } = await startWith({ operation: 'send', action: 'drop' });
  await client.createSender('orders').sendMessages({ body: 1 });
  expect(broker.counters()['orders.messages']).toBe(0);
});

test('send + duplicate: the message is there twice', async () => {
  const { client, broker } = await startWith({ operation: 'send', action: 'duplicate' });
  await client.createSender('orders').sendMessages({ body: 1 });
  expect(broker.counters()['orders.messages']).toBe(2);
});

test('send + duplicate with duplicate detection: the message is there twice all the same', async () => {
  const { client, broker } = await startTestBroker([{ name: 'orders', requiresDuplicateDetection: true }]);
  broker.setFaults({ seed: 1, rules: [{ operation: 'send', action: 'duplicate' }] });
  await client.createSender('orders').sendMessages({ body: 1, messageId: 'a' });
  expect(broker.counters()['orders.messages']).toBe(2);
});

test('send + cutAfterCommit: the message is stored and its sender never learns it', async () => {
  const { client, broker } = await startWith({ operation: 'send', action: 'cutAfterCommit', times: 1 });
  void fails(client.createSender('orders').sendMessages({ body: 1 }));
  await until(() => broker.counters()['connections'] === 0 && broker.counters()['orders.messages'] === 1);
});

test('send + cutBeforeCommit: the connection is gone and nothing is stored', async () => {
  const { client, broker } = await startWith({ operation: 'send', action: 'cutBeforeCommit', times: 1 });
  void fails(client.createSender('orders').sendMessages({ body: 1 }));
  await until(() => broker.counters()['faults/send/*/cutBeforeCommit'] === 1 && broker.counters()['connections'] === 0);
  await createClient(broker.connectionString).createSender('orders').sendMessages({ body: 2 });
  expect(broker.counters()['orders.messages']).toBe(1);
});

test('send + delay: the message is accepted when the time has passed', async () => {
  const { client, broker, clock } = await startWith({ operation: 'send', action: 'delay', delayMs: 5000, times: 1 });
  const sent = client.createSender('orders').sendMessages({ body: 1 });
  await until(() => broker.counters()['faults/send/*/delay'] === 1);
  expect(broker.counters()['orders.messages']).toBe(0);
  clock.advance(5000);
  await sent;
  expect(broker.counters()['orders.messages']).toBe(1);
});

test('send + pause: the message waits until the rules are replaced', async () => {
  const { client, broker } = await startWith({ operation: 'send', action: 'pause' });
  const sent = client.createSender('orders').sendMessages({ body: 1 });
  await until(() => broker.counters()['faults/send/*/pause'] === 1);
  expect(broker.counters()['orders.messages']).toBe(0);
  broker.setFaults();
  await sent;
  expect(broker.counters()['orders.messages']).toBe(1);
});

test('deliver + drop: the message is locked, lost on its way, and comes again when the lock ends', async () => {
  const { client, clock, broker } = await startWith({ operation: 'deliver', action: 'drop', times: 1 });
  await client.createSender('orders').sendMessages({ body: 1 });
  const receiver = client.createReceiver('orders');
  expect(await receiver.receiveMessages(1, { maxWaitTimeInMs: 50 })).toEqual([]);
  expect(broker.counters()['orders.locked']).toBe(1);
  clock.advance(lockMs);
  expect((await receiveOne(receiver)).deliveryCount).toBe(1);
});

test('deliver + duplicate: the message comes once more', async () => {
  const { client } = await startWith({ operation: 'deliver', action: 'duplicate', times: 1 });
  await client.createSender('orders').sendMessages({ body: 1, messageId: 'a' });
  const receiver = client.createReceiver('orders');
  expect((await receive(receiver, 2)).map(({ messageId }) => messageId)).toEqual(['a', 'a']);
});

test.each([
  ['cutBeforeCommit', 0],
  ['cutAfterCommit', 1],
] as const)('deliver + %s: the connection is gone, and the message has been locked or not', async (action, locked) => {
  const { client, broker } = await startWith({ operation: 'deliver', action, times: 1 });
  await client.createSender('orders').sendMessages({ body: 1 });
  const cutOff = createClient(broker.connectionString);
  void fails(cutOff.createReceiver('orders').receiveMessages(1, { maxWaitTimeInMs: 50 }));
  await until(() => broker.counters()[`faults/deliver/*/${action}`] === 1 && broker.counters()['connections'] === 1);
  expect(broker.counters()['orders.locked'] ?? 0).toBe(locked);
});

test('deliver + delay: the message comes later', async () => {
  const { client, broker, clock } = await startWith({ operation: 'deliver', action: 'delay', delayMs: 1000, times: 1 });
  await client.createSender('orders').sendMessages({ body: 1 });
  const received = receiveOne(client.createReceiver('orders'));
  await until(() => broker.counters()['faults/deliver/*/delay'] === 1);
  expect(broker.counters()['receives'] ?? 0).toBe(0);
  clock.advance(1000);
  expect((await received).body).toBe(1);
});

async function lockUnder(rule: FaultRule) {
  const started = await startTestBroker([{ name: 'orders' }]);
  await started.client.createSender('orders').sendMessages({ body: 1 });
  const receiver = started.client.createReceiver('orders', { maxAutoLockRenewalDurationInMs: 0 });
  const message = await receiveOne(receiver);
  started.broker.setFaults({ seed: 1, rules: [rule] });
  return { ...started, receiver, message };
}

test('settle + refuse: the message stays locked and the client knows', async () => {
  const { receiver, message, broker } = await lockUnder({ operation: 'settle', action: 'refuse', times: 1 });
  expect(await errorCode(receiver.completeMessage(message))).toBe('ServiceBusy');
  expect(broker.counters()['orders.locked']).toBe(1);
});

test('settle + drop: the client believes it, and the message comes again when the lock ends', async () => {
  const { receiver, message, clock } = await lockUnder({ operation: 'settle', action: 'drop', times: 1 });
  await receiver.completeMessage(message);
  clock.advance(lockMs);
  expect((await receiveOne(receiver)).deliveryCount).toBe(1);
});

test('deliver + duplicate without an end: each message comes twice, copies are not copied', async () => {
  const { client, broker } = await startWith({ operation: 'deliver', action: 'duplicate' });
  await client.createSender('orders').sendMessages({ body: 1 });
  const receiver = client.createReceiver('orders');
  await receiver.completeMessage(await receiveOne(receiver));
  await receiver.completeMessage(await receiveOne(receiver));
  expect(broker.counters()['orders.messages']).toBe(0);
});

test('settle + duplicate: the second one finds the lock gone', async () => {
  const { receiver, message, broker } = await lockUnder({ operation: 'settle', action: 'duplicate' });
  expect(await errorCode(receiver.completeMessage(message))).toBe('MessageLockLost');
  expect(broker.counters()['orders.messages']).toBe(0);
});

test('settle + cutAfterCommit: the message is gone and its receiver never learns it', async () => {
  const { receiver, message, broker } = await lockUnder({ operation: 'settle', action: 'cutAfterCommit' });
  void fails(receiver.completeMessage(message));
  await until(() => broker.counters()['connections'] === 0 && broker.counters()['orders.messages'] === 0);
});

test('settle + cutBeforeCommit: the connection is gone and the message still locked', async () => {
  const { receiver, message, broker } = await lockUnder({ operation: 'settle', action: 'cutBeforeCommit' });
  void fails(receiver.completeMessage(message));
  await until(() => broker.counters()['connections'] === 0);
  expect(broker.counters()['orders.locked']).toBe(1);
});

test('attach + refuse: the link is not opened', async () => {
  const { client } = await startWith({ operation: 'attach', action: 'refuse', error: 'com.microsoft:entity-disabled' });
  expect(await errorCode(client.createReceiver('orders').receiveMessages(1))).toBe('MessagingEntityDisabled');
});

test('attach + delay and pause: the link opens when they let go', async () => {
  const { client, broker, clock } = await startWith(
    { operation: 'attach', action: 'delay', delayMs: 1000, times: 1 },
    { operation: 'attach', action: 'pause' },
  );
  const sent = client.createSender('orders').sendMessages({ body: 1 });
  await until(() => broker.counters()['faults/attach/*/delay'] === 1);
  clock.advance(1000);
  await sent;
  const received = receiveOne(client.createReceiver('orders'));
  await until(() => broker.counters()['faults/attach/*/pause'] === 1);
  broker.setFaults();
  expect((await received).body).toBe(1);
});

test('attach + drop: the link is never answered', async () => {
  const { broker } = await startWith({ operation: 'attach', action: 'drop', times: 1 });
  const { connection, authorize } = await connectAmqp(broker);
  await authorize('orders');
  const answered: string[] = [];
  connection.open_sender('orders').on('sender_open', () => answered.push('first'));
  await once(connection.open_sender({ target: 'orders', name: 'second' }), 'sender_open');
  expect(answered).toEqual([]);
});

test('authorize + drop: the token is lost', async () => {
  const { broker } = await startWith({ operation: 'authorize', action: 'drop', times: 1 });
  const { authorize } = await connectAmqp(broker);
  const answered: number[] = [];
  void authorize('orders').then((status) => answered.push(status));
  await until(() => broker.counters()['faults/authorize/*/drop'] === 1);
  expect(await authorize('orders')).toBe(202);
  expect(answered).toEqual([]);
});

test('authorize + refuse: the token is not taken', async () => {
  const { client } = await startWith({ operation: 'authorize', action: 'refuse', error: 'amqp:unauthorized-access' });
  expect(await errorCode(client.createSender('orders').sendMessages({ body: 1 }))).toBe('UnauthorizedAccess');
});

test('management + refuse and drop: the request fails or is lost', async () => {
  const { broker } = await startWith(
    { operation: 'management', action: 'refuse', error: 'com.microsoft:server-busy', times: 1 },
    { operation: 'management', action: 'drop', times: 1 },
  );
  const receiver = createClient(broker.connectionString, { timeoutInMs: 100 }).createReceiver('orders');
  expect(await errorCode(receiver.peekMessages(1))).toBe('ServiceBusy');
  expect(await errorCode(receiver.peekMessages(1))).toMatch(/Timeout/);
  expect(await receiver.peekMessages(1)).toEqual([]);
});

test('management + duplicate: the request is done twice', async () => {
  const { client, broker } = await startWith({ operation: 'management', action: 'duplicate' });
  const sequences = await client.createSender('orders').scheduleMessages({ body: 1 }, new Date(Date.now() + lockMs));
  expect(sequences.map((sequence) => sequence.toNumber())).toEqual([2]);
  expect(broker.counters()['orders.messages']).toBe(2);
});

test.each([
  [{ operation: 'publish', action: 'drop' }, /operation must be one of send, deliver, settle/],
  [{ operation: 'deliver', action: 'refuse' }, /action of deliver must be one of/],
  [{ operation: 'attach', action: 'duplicate' }, /action of attach must be one of/],
] as const)('a rule that could do nothing is refused: %o', async (rule, message) => {
  const { broker } = await startWith();
  expect(() => {
    broker.setFaults({ seed: 1, rules: [rule] });
  }).toThrow(message);
});
