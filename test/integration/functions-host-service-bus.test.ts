import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { ServiceBusClient, type ServiceBusMessage } from '@azure/service-bus';
import { beforeAll, describe, expect, it } from 'vitest';
import { startBroker, type Broker } from '../../local/service-bus/index.js';
import { cleanUp, startHostProcess, temporaryDirectory, type HostProcess } from '../support/functions-host-process.js';

interface Received {
  readonly body: unknown;
  readonly type: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

// The client leaves Nagle's algorithm on; with it each round trip would take 40 ms.
subscribe('net.client.socket', (message) => {
  (message as { socket: Socket }).socket.setNoDelay(true);
});

let broker: Broker;
let client: ServiceBusClient;
let host: HostProcess;

beforeAll(async () => {
  const queues = [
    { name: 'orders-eu', maxDeliveryCount: 3 },
    { name: 'raw' },
    { name: 'kept', lockDuration: 'PT5S' },
    { name: 'slow', lockDuration: 'PT5S' },
  ];
  broker = await startBroker({
    dataDirectory: temporaryDirectory(),
    fsync: 'never',
    topology: { serviceBus: { queues } },
  });
  cleanUp(() => broker.close());
  client = new ServiceBusClient(broker.connectionString);
  cleanUp(() => client.close());
  host = await startHostProcess('service-bus-app', {
    settings: { Bus: broker.connectionString, OrdersQueue: 'orders-eu' },
  });
});

async function send(queue: string, message: ServiceBusMessage): Promise<void> {
  const sender = client.createSender(queue);
  await sender.sendMessages(message);
  await sender.close();
}

/** What the functions have received, once it has so many entries that fit. */
async function received(count: number, fits: (entry: Received) => boolean): Promise<Received[]> {
  for (;;) {
    const { body } = await host.request('GET', 'api/received');
    const entries = (body as { received: Received[] }).received.filter(fits);
    if (entries.length >= count) return entries;
  }
}

const withId = (messageId: string) => (entry: Received) => entry.metadata['messageId'] === messageId;

async function isEmpty(queue: string): Promise<boolean> {
  const receiver = client.createReceiver(queue);
  const peeked = await receiver.peekMessages(1);
  await receiver.close();
  return peeked.length === 0;
}

describe('a Service Bus trigger', () => {
  it('hands over the body and the metadata as the .NET host does, and completes the message', async () => {
    await send('orders-eu', {
      messageId: 'm-1',
      correlationId: 'c-1',
      subject: 'order',
      contentType: 'application/json',
      body: { orderId: 'A-1' },
      applicationProperties: { OrderId: 'A-1' },
    });
    const [entry] = await received(1, withId('m-1'));
    expect(entry?.body).toEqual({ orderId: 'A-1' });
    expect(entry?.metadata).toMatchObject({
      deliveryCount: 1,
      messageId: 'm-1',
      correlationId: 'c-1',
      subject: 'order',
      label: 'order',
      contentType: 'application/json',
      applicationProperties: { orderId: 'A-1' },
      userProperties: { orderId: 'A-1' },
    });
    expect(entry?.metadata).toHaveProperty('enqueuedTimeUtc');
    expect(entry?.metadata).not.toHaveProperty('replyTo');
    await host.line(/Executed 'Functions\.orders' \(Succeeded/);
    await expect.poll(() => isEmpty('orders-eu')).toBe(true);
  });

  it.each([
    ['text', 'hello', 'string', 'hello'],
    ['a number in text', '123', 'number', 123],
    ['JSON text', '{"a":1}', 'object', { a: 1 }],
  ])('parses a body when it is JSON: %s', async (name, text, type, body) => {
    await send('orders-eu', { messageId: name, body: Buffer.from(text) });
    expect(await received(1, withId(name))).toMatchObject([{ type, body }]);
  });

  it('hands over bytes when the binding asks for binary data', async () => {
    await send('raw', { messageId: 'bytes', body: Buffer.from('efbbbf7b7d', 'hex') });
    expect(await received(1, withId('bytes'))).toMatchObject([{ type: 'bytes', body: 'efbbbf7b7d' }]);
  });

  const forged = {
    MESSAGEID: 'EVIL',
    deliveryCount: 77,
    correlationId: true,
    applicationProperties: { x: 1 },
    subject: null,
    replyTo: ['a'],
    other: 1.5,
  };

  it('copies the properties of a JSON body over the metadata of a text binding, as the real host does', async () => {
    await send('orders-eu', { messageId: 'genuine', subject: 'order', body: { merged: 1, ...forged } });
    const [entry] = await received(1, ({ body }) => Object.hasOwn(Object(body) as object, 'merged'));
    expect(entry?.metadata).toMatchObject({
      messageId: 'EVIL',
      deliveryCount: 77,
      correlationId: 'True',
      applicationProperties: { x: 1 },
      userProperties: {},
      subject: 'order',
      other: 1.5,
    });
    expect(entry?.metadata).not.toHaveProperty('replyTo');
  });

  it('leaves the metadata of a binary binding as the broker set it', async () => {
    await send('raw', { messageId: 'genuine', correlationId: 'c-2', subject: 'order', body: forged });
    const [entry] = await received(1, ({ metadata }) => metadata['correlationId'] === 'c-2');
    expect(entry?.metadata).toMatchObject({ messageId: 'genuine', deliveryCount: 1, applicationProperties: {} });
  });

  it('abandons the message of a failed function until the broker gives it up', async () => {
    await send('orders-eu', { messageId: 'bad', body: { fails: true } });
    const entries = await received(3, withId('bad'));
    expect(entries.map(({ metadata }) => metadata['deliveryCount'])).toEqual([1, 2, 3]);
    const deadLetters = client.createReceiver('orders-eu', { subQueueType: 'deadLetter' });
    const [dead] = await deadLetters.receiveMessages(1);
    expect(dead?.deadLetterReason).toBe('MaxDeliveryCountExceeded');
  });

  it('leaves the message locked when autoCompleteMessages is off', async () => {
    await send('kept', { messageId: 'kept', body: {} });
    await received(1, withId('kept'));
    expect(await isEmpty('kept')).toBe(false);
  });

  it('renews the lock of a message whose function runs longer than it', { timeout: 30_000 }, async () => {
    await send('slow', { messageId: 'slow', body: { waitMs: 6_000 } });
    await received(1, withId('slow'));
    await host.line(/^Executed 'Functions\.slow' \(Succeeded/);
    await expect.poll(() => isEmpty('slow')).toBe(true);
    expect(broker.counters()).toMatchObject({ 'slow.receives': 1, 'slow.settlements': 1 });
    expect(broker.counters()['slow.lockExpired'] ?? 0).toBe(0);
  });

  it('runs no more functions at once than host.json allows', async () => {
    const bodies = Array.from({ length: 6 }, (_, index) => index);
    await Promise.all(
      bodies.map((index) => send('orders-eu', { messageId: `w-${index}`, body: { waitMs: 20, index } })),
    );
    await received(6, ({ metadata }) => String(metadata['messageId']).startsWith('w-'));
    const { body } = await host.request('GET', 'api/received');
    expect((body as { mostRunning: number }).mostRunning).toBe(2);
  });
});
