import { once } from 'node:events';
import type { ServiceBusReceivedMessage, ServiceBusReceiver } from '@azure/service-bus';
import type { EventContext } from 'rhea';
import { expect, test } from 'vitest';
import { connectAmqp } from '../support/service-bus-amqp-client.js';
import {
  errorCode,
  openClientSockets,
  receive,
  receiveOne,
  startTestBroker,
  until,
} from '../support/service-bus-broker.js';

const lockMs = 60_000;

async function lockOne(queue: Record<string, unknown> = {}) {
  const test = await startTestBroker([{ name: 'orders', ...queue }]);
  await test.client
    .createSender('orders')
    .sendMessages({ body: 'x', messageId: 'm', applicationProperties: { old: 1 } });
  const receiver = test.client.createReceiver('orders', { maxAutoLockRenewalDurationInMs: 0 });
  return { ...test, receiver, message: await receiveOne(receiver) };
}

test('a completed message is gone', async () => {
  const { receiver, message, broker } = await lockOne();
  await receiver.completeMessage(message);
  expect(broker.counters()).toMatchObject({ 'orders.messages': 0, 'orders.settlements': 1, settlements: 1 });
});

test('an abandoned message comes back with one more delivery and its changed properties', async () => {
  const { receiver, message } = await lockOne();
  await receiver.abandonMessage(message, { why: 'busy', big: 5_000_000_000 });
  const again = await receiveOne(receiver);
  expect(again.deliveryCount).toBe(1);
  expect(again.applicationProperties).toEqual({ old: 1, why: 'busy', big: 5_000_000_000 });
  expect(again.messageId).toBe('m');
});

test('a released message comes back without a counted delivery, however often, also among dead letters', async () => {
  const { client, broker } = await startTestBroker([{ name: 'orders', maxDeliveryCount: 2 }]);
  await client.createSender('orders').sendMessages({ body: 'x' });
  const { authorize, connection } = await connectAmqp(broker);
  await authorize('orders');
  const receiveAndRelease = async (address: string): Promise<(number | undefined)[]> => {
    const counts: (number | undefined)[] = [];
    const link = connection.open_receiver({ source: address, autoaccept: false, credit_window: 0 });
    for (let round = 0; round < 4; round += 1) {
      link.add_credit(1);
      const [{ message, delivery }] = (await once(link, 'message')) as [EventContext];
      counts.push(message?.delivery_count);
      delivery?.release();
    }
    link.close();
    await once(link, 'receiver_close');
    return counts;
  };
  expect(await receiveAndRelease('orders')).toEqual([0, 0, 0, 0]);
  const receiver = client.createReceiver('orders');
  const message = await receiveOne(receiver);
  expect(message.deliveryCount).toBe(0);
  await receiver.deadLetterMessage(message);
  expect(await receiveAndRelease('orders/$DeadLetterQueue')).toEqual([0, 0, 0, 0]);
});

test('a deferred message comes only by its sequence number', async () => {
  const { receiver, message } = await lockOne();
  await receiver.deferMessage(message, { step: 2 });
  const [peeked] = await receiver.peekMessages(1);
  expect(peeked?.state).toBe('deferred');
  const [deferred] = await receiver.receiveDeferredMessages(sequenceOf(message));
  expect(deferred?.deliveryCount).toBe(1);
  expect(deferred?.applicationProperties).toEqual({ old: 1, step: 2 });
  if (deferred !== undefined) await receiver.completeMessage(deferred);
  expect(await receiver.peekMessages(1)).toEqual([]);
});

test('an unknown deferred message is an error of the whole call', async () => {
  const { receiver, message } = await lockOne();
  await receiver.deferMessage(message);
  const known = sequenceOf(message);
  expect(await errorCode(receiver.receiveDeferredMessages([known, known.add(5)]))).toBe('MessageNotFound');
  expect(await receiver.receiveDeferredMessages(known)).toHaveLength(1);
});

test('a deferred message taken in receive-and-delete mode is gone', async () => {
  const { receiver, message, client, broker } = await lockOne();
  await receiver.deferMessage(message);
  const taking = client.createReceiver('orders', { receiveMode: 'receiveAndDelete' });
  expect(await taking.receiveDeferredMessages(sequenceOf(message))).toHaveLength(1);
  expect(broker.counters()['orders.messages']).toBe(0);
});

test('a dead-lettered message is in the dead-letter sub-queue with its reason and no counted delivery', async () => {
  const { receiver, message, client } = await lockOne();
  await receiver.deadLetterMessage(message, {
    deadLetterReason: 'Invalid',
    deadLetterErrorDescription: 'the total is negative',
    extra: 'kept',
  });
  const dead = await receiveOne(client.createReceiver('orders', { subQueueType: 'deadLetter' }));
  expect(dead).toMatchObject({
    body: 'x',
    messageId: 'm',
    deadLetterReason: 'Invalid',
    deadLetterErrorDescription: 'the total is negative',
    deliveryCount: 0,
    applicationProperties: { old: 1, extra: 'kept' },
  });
  expect(dead.deadLetterSource).toBeUndefined();
});

test('dead letters are forwarded with their source, a new sequence number and no delivery count', async () => {
  const { client } = await startTestBroker([
    { name: 'filler' },
    { name: 'orders', forwardDeadLetteredMessagesTo: 'graveyard' },
    { name: 'graveyard' },
  ]);
  await client.createSender('graveyard').sendMessages({ body: 'earlier' });
  await client.createSender('orders').sendMessages({ body: 'x', timeToLive: 60_000 });
  const receiver = client.createReceiver('orders');
  const message = await receiveOne(receiver);
  await receiver.abandonMessage(message);
  await receiver.deadLetterMessage(await receiveOne(receiver), {
    deadLetterReason: 'Invalid',
    deadLetterErrorDescription: '',
  });
  const [, dead] = await receive(client.createReceiver('graveyard'), 2);
  expect(dead).toMatchObject({
    body: 'x',
    deadLetterSource: 'orders',
    deadLetterReason: 'Invalid',
    deliveryCount: 0,
    enqueuedSequenceNumber: 1,
  });
  expect(dead?.sequenceNumber?.toNumber()).toBe(2);
});

test('a message whose deliveries are used up is dead-lettered by the broker', async () => {
  const { receiver, message, client } = await lockOne({ maxDeliveryCount: 1 });
  await receiver.abandonMessage(message);
  const dead = await receiveOne(client.createReceiver('orders', { subQueueType: 'deadLetter' }));
  expect(dead.deadLetterReason).toBe('MaxDeliveryCountExceeded');
  expect(dead.deadLetterErrorDescription).toBe('Message could not be consumed after 1 delivery attempts.');
  expect(dead.deliveryCount).toBe(1);
});

test('in a dead-letter sub-queue no delivery is counted, and dead-lettering again fails and leaves the message', async () => {
  const { receiver, message, client, clock } = await lockOne({ maxDeliveryCount: 1 });
  await receiver.deadLetterMessage(message);
  const dead = client.createReceiver('orders', { subQueueType: 'deadLetter', maxAutoLockRenewalDurationInMs: 0 });
  await dead.abandonMessage(await receiveOne(dead));
  await receiveOne(dead);
  clock.advance(lockMs);
  const third = await receiveOne(dead);
  expect(third.deliveryCount).toBe(0);
  expect(await errorCode(dead.deadLetterMessage(third))).toBe('GeneralError');
  expect((await receiveOne(dead)).body).toBe('x');
});

test('a lock that has expired cannot be settled, and the message comes again', async () => {
  const { receiver, message, clock } = await lockOne();
  clock.advance(lockMs);
  expect(await errorCode(receiver.completeMessage(message))).toBe('MessageLockLost');
  expect((await receiveOne(receiver)).deliveryCount).toBe(1);
});

test('a message under a lock is given to nobody else', async () => {
  const { client, clock } = await lockOne();
  const other = client.createReceiver('orders');
  expect(await other.receiveMessages(1, { maxWaitTimeInMs: 20 })).toEqual([]);
  clock.advance(lockMs);
  expect(await receive(other, 1)).toHaveLength(1);
});

test('a renewed lock holds for another lock duration', async () => {
  const { receiver, message, clock } = await lockOne();
  clock.advance(lockMs - 1);
  expect((await receiver.renewMessageLock(message)).getTime()).toBe(clock.now() + lockMs);
  clock.advance(lockMs - 1);
  await receiver.completeMessage(message);
});

test('a lost lock cannot be renewed', async () => {
  const { receiver, message, clock } = await lockOne();
  clock.advance(lockMs);
  expect(await errorCode(receiver.renewMessageLock(message))).toBe('MessageLockLost');
});

const settlements: [string, (receiver: ServiceBusReceiver, message: ServiceBusReceivedMessage) => Promise<void>][] = [
  ['complete', (receiver, message) => receiver.completeMessage(message)],
  ['abandon', (receiver, message) => receiver.abandonMessage(message, { late: true })],
  ['defer', (receiver, message) => receiver.deferMessage(message)],
  [
    'dead-letter',
    (receiver, message) =>
      receiver.deadLetterMessage(message, { deadLetterReason: 'Late', deadLetterErrorDescription: '' }),
  ],
];

/** A receiver whose connection was cut while it held a message. */
async function lockAndLoseLink() {
  const started = await lockOne({ maxDeliveryCount: 10 });
  started.broker.setFaults({ seed: 1, rules: [{ operation: 'send', action: 'cutBeforeCommit', times: 1 }] });
  void started.client
    .createSender('orders')
    .sendMessages({ body: 'lost' })
    .catch(() => undefined);
  await until(() => openClientSockets() === 0);
  return started;
}

test.each(settlements)('a message can be settled after its link is gone: %s', async (name, settle) => {
  const { receiver, message, client, broker } = await lockAndLoseLink();
  await settle(receiver, message);
  expect(broker.counters()['orders.locked']).toBeUndefined();
  expect(broker.counters()).toMatchObject({ settlements: 1, managementRequests: 1 });
  const [dead] = await client.createReceiver('orders', { subQueueType: 'deadLetter' }).peekMessages(1);
  expect(dead?.deadLetterReason).toBe(name === 'dead-letter' ? 'Late' : undefined);
});

test('a lost lock cannot be settled after its link is gone', async () => {
  const { receiver, message, clock } = await lockAndLoseLink();
  clock.advance(lockMs);
  expect(await errorCode(receiver.completeMessage(message))).toBe('MessageLockLost');
});

type SequenceNumber = NonNullable<ServiceBusReceivedMessage['sequenceNumber']>;

function sequenceOf({ sequenceNumber }: ServiceBusReceivedMessage): SequenceNumber {
  if (sequenceNumber === undefined) throw new Error('The message has no sequence number.');
  return sequenceNumber;
}
