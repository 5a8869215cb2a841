import { once } from 'node:events';
import { ServiceBusClient } from '@azure/service-bus';
import rhea, { type EventContext, type Receiver, type Sender } from 'rhea';
import { expect, test } from 'vitest';
import type { AuthorizationRule } from '../../local/service-bus/index.js';
import { isPortFree } from '../../local/ports.js';
import { cleanUp, createClient, errorCode, receiveOne, startTestBroker, until } from '../support/service-bus-broker.js';
import { connectionStringOf, signToken } from '../support/service-bus-tokens.js';

const hour = 3_600_000;

const authorizationRules: AuthorizationRule[] = [
  { keyName: 'sender', key: 'key-of-sender', rights: ['Send'], queue: 'orders' },
  { keyName: 'listener', key: 'key-of-listener', rights: ['Listen'], queue: 'orders' },
  { keyName: 'manager', key: 'key-of-manager', rights: ['Manage'], queue: 'orders' },
  { keyName: 'watcher', key: 'key-of-watcher', rights: ['Listen'] },
];

function startWithRules() {
  return startTestBroker([{ name: 'orders' }, { name: 'status' }], { authorizationRules });
}

async function clientWith(keyName: string, key = `key-of-${keyName}`) {
  const started = await startWithRules();
  return { ...started, restricted: createClient(connectionStringOf(started.broker.port, keyName, key)) };
}

test.each([
  ['a wrong key', 'sender', 'another-key'],
  ['an unknown rule', 'nobody', 'key-of-nobody'],
])('%s is refused as unauthorized', async (_name, keyName, key) => {
  const { restricted, broker } = await clientWith(keyName, key);
  expect(await errorCode(restricted.createSender('orders').sendMessages({ body: 1 }))).toBe('UnauthorizedAccess');
  expect(broker.counters()).toMatchObject({ refusedTokens: 1, 'orders.messages': 0 });
});

test('a Send rule may send and schedule, and nothing else', async () => {
  const { restricted, clock } = await clientWith('sender');
  const sender = restricted.createSender('orders');
  await sender.sendMessages({ body: 1 });
  const sequences = await sender.scheduleMessages({ body: 2 }, new Date(clock.now() + hour));
  await sender.cancelScheduledMessages(sequences);
  const receiver = restricted.createReceiver('orders');
  expect(await errorCode(receiver.receiveMessages(1))).toBe('UnauthorizedAccess');
  expect(await errorCode(receiver.peekMessages(1))).toBe('UnauthorizedAccess');
});

test('a Listen rule may receive, settle and peek, and nothing else', async () => {
  const { restricted, client, clock } = await clientWith('listener');
  await client.createSender('orders').sendMessages({ body: 1 });
  const receiver = restricted.createReceiver('orders');
  expect(await receiver.peekMessages(1)).toHaveLength(1);
  await receiver.completeMessage(await receiveOne(receiver));
  await restricted.createReceiver('orders', { subQueueType: 'deadLetter' }).peekMessages(1);
  const sender = restricted.createSender('orders');
  expect(await errorCode(sender.sendMessages({ body: 1 }))).toBe('UnauthorizedAccess');
  const later = new Date(clock.now() + hour);
  expect(await errorCode(sender.scheduleMessages({ body: 1 }, later))).toBe('UnauthorizedAccess');
});

test('a Manage rule may send and receive', async () => {
  const { restricted } = await clientWith('manager');
  await restricted.createSender('orders').sendMessages({ body: 1 });
  expect((await receiveOne(restricted.createReceiver('orders'))).body).toBe(1);
});

test('a rule of one queue is unknown to another queue', async () => {
  const { restricted } = await clientWith('manager');
  expect(await errorCode(restricted.createSender('status').sendMessages({ body: 1 }))).toBe('UnauthorizedAccess');
});

test('a rule of a queue with slashes in its name holds for that queue and its dead letters alone', async () => {
  const { broker } = await startTestBroker([{ name: 'shop' }, { name: 'shop/eu/orders' }], {
    authorizationRules: [
      { keyName: 'eu', key: 'key-of-eu', rights: ['Manage'], queue: 'shop/eu/orders' },
      { keyName: 'shop', key: 'key-of-shop', rights: ['Manage'], queue: 'shop' },
    ],
  });
  const eu = createClient(connectionStringOf(broker.port, 'eu', 'key-of-eu'));
  await eu.createSender('shop/eu/orders').sendMessages({ body: 1 });
  const receiver = eu.createReceiver('shop/eu/orders');
  await receiver.deadLetterMessage(await receiveOne(receiver));
  const dead = eu.createReceiver('shop/eu/orders', { subQueueType: 'deadLetter' });
  expect((await receiveOne(dead)).body).toBe(1);
  expect(await errorCode(eu.createSender('shop').sendMessages({ body: 1 }))).toBe('UnauthorizedAccess');
  const shop = createClient(connectionStringOf(broker.port, 'shop', 'key-of-shop'));
  expect(await errorCode(shop.createSender('shop/eu/orders').sendMessages({ body: 1 }))).toBe('UnauthorizedAccess');
});

test('a rule of the namespace holds for every queue', async () => {
  const { restricted } = await clientWith('watcher');
  expect(await restricted.createReceiver('orders').peekMessages(1)).toEqual([]);
  expect(await restricted.createReceiver('status').peekMessages(1)).toEqual([]);
});

/** A client that signs in with the name and the key of a rule, as AMQP clients of other makers do. */
async function signIn(port: number, username: string, password: string) {
  const connection = rhea.create_container().connect({ host: '127.0.0.1', port, username, password, reconnect: false });
  connection.on('disconnected', () => undefined);
  cleanUp(() => {
    connection.close();
    return Promise.resolve();
  });
  const open = once(connection, 'connection_open');
  const failed = once(connection, 'connection_error').then(([context]) => (context as EventContext).error);
  const error = await Promise.race([open.then(() => undefined), failed]);
  return { connection, error };
}

async function conditionOf(link: Sender | Receiver): Promise<unknown> {
  const side = link.is_sender() ? 'sender' : 'receiver';
  link.on(`${side}_error`, () => undefined);
  await once(link, `${side}_close`);
  return (link.error as { condition?: string } | undefined)?.condition;
}

test.each([
  ['of the namespace', 'watcher', ['orders', 'status'], []],
  ['of a queue', 'listener', ['orders'], ['status']],
])('SASL PLAIN with a rule %s gives the rights of that rule', async (_name, keyName, allowed, refused) => {
  const { broker } = await startWithRules();
  const { connection } = await signIn(broker.port, keyName, `key-of-${keyName}`);
  for (const queue of allowed) {
    const receiver = connection.open_receiver(queue);
    await once(receiver, 'receiver_open');
    expect(receiver.source.address).toBe(queue);
    expect(await conditionOf(connection.open_sender(queue))).toBe('amqp:unauthorized-access');
  }
  for (const queue of refused) {
    expect(await conditionOf(connection.open_receiver(queue))).toBe('amqp:unauthorized-access');
  }
});

test('a client that has signed in with SASL PLAIN sends and receives without any token', async () => {
  const { broker } = await startWithRules();
  const { connection } = await signIn(broker.port, 'manager', 'key-of-manager');
  const sender = connection.open_sender('orders');
  await once(sender, 'sendable');
  sender.send({ body: rhea.message.data_section(Buffer.from('x')) as unknown });
  await once(sender, 'accepted');
  const [{ message }] = (await once(connection.open_receiver('orders'), 'message')) as [EventContext];
  expect(message?.delivery_count).toBe(0);
});

test.each([
  ['another key', 'manager', 'key-of-sender'],
  ['no rule', 'nobody', 'key-of-manager'],
])('SASL PLAIN with %s is refused, and both sides are told', async (_name, keyName, key) => {
  const { broker, log } = await startWithRules();
  const { error } = await signIn(broker.port, keyName, key);
  expect(error).toMatchObject({ condition: 'amqp:unauthorized-access' });
  expect(broker.counters()).toMatchObject({ refusedTokens: 1 });
  expect(log.join()).toContain(`SASL PLAIN with '${keyName}', which is no rule with that key`);
});

/** A client that presents a token instead of a key. */
async function clientWithToken(change: { resource?: string; expiresIn?: number; token?: string }) {
  const started = await startWithRules();
  const { port } = started.broker;
  const token =
    change.token ??
    signToken({
      resource: `sb://127.0.0.1:${port}${change.resource ?? '/orders'}`,
      keyName: 'manager',
      key: 'key-of-manager',
      expiresAt: started.clock.now() + (change.expiresIn ?? hour),
    });
  const connectionString = `Endpoint=sb://127.0.0.1:${port};SharedAccessSignature=${token};UseDevelopmentEmulator=true`;
  return { ...started, restricted: createClient(connectionString) };
}

test('a token made elsewhere is as good as the key, for its own resource', async () => {
  const { restricted } = await clientWithToken({});
  await restricted.createSender('orders').sendMessages({ body: 1 });
  expect((await receiveOne(restricted.createReceiver('orders'))).body).toBe(1);
});

test.each([
  ['that has expired', { expiresIn: -1000 }],
  ['for another queue', { resource: '/status' }],
  ['for a queue whose name begins alike', { resource: '/ord' }],
  ['that cannot be read', { token: 'SharedAccessSignature sr=%E0%A4%A&sig=x&se=soon&skn=' }],
])('a token %s is refused', async (_name, change) => {
  const { restricted } = await clientWithToken(change);
  expect(await errorCode(restricted.createSender('orders').sendMessages({ body: 1 }))).toBe('UnauthorizedAccess');
});

test('the refusal of an expired token names both clocks (C79)', async () => {
  const { restricted, clock } = await clientWithToken({ expiresIn: -hour });
  const [end, now] = [clock.now() - hour, clock.now()].map((time) => new Date(time).toUTCString());
  await expect(restricted.createSender('orders').sendMessages({ body: 1 })).rejects.toThrow(
    `it ends at ${String(end)}, the broker's clock says ${String(now)}`,
  );
});

test('when a token ends, its link may send no more', async () => {
  const { client, clock, broker } = await startWithRules();
  const sender = client.createSender('orders');
  await sender.sendMessages({ body: 1 });
  clock.advance(2 * hour);
  expect(await errorCode(sender.sendMessages({ body: 2 }))).toBe('UnauthorizedAccess');
  expect(broker.counters()['orders.messages']).toBe(1);
});

test('when a token ends, its link gets no more messages', async () => {
  const { broker, clock } = await startWithRules();
  const listener = new ServiceBusClient(broker.connectionString, { retryOptions: { maxRetries: 0, timeoutInMs: 500 } });
  const received: unknown[] = [];
  listener.createReceiver('orders').subscribe({
    processMessage: ({ body }) => {
      received.push(body);
      return Promise.resolve();
    },
    processError: () => Promise.resolve(),
  });
  const first = createClient(broker.connectionString);
  await first.createSender('orders').sendMessages({ body: 1 });
  await until(() => received.length === 1 && broker.counters()['orders.messages'] === 0);
  clock.advance(2 * hour);
  // The root key signs with the machine's time, so only a token made for the broker's time is valid now.
  const { port } = broker;
  const expiresAt = clock.now() + hour;
  const token = signToken({
    resource: `sb://127.0.0.1:${port}/orders`,
    keyName: 'sender',
    key: 'key-of-sender',
    expiresAt,
  });
  const second = createClient(
    `Endpoint=sb://127.0.0.1:${port};SharedAccessSignature=${token};UseDevelopmentEmulator=true`,
  );
  await second.createSender('orders').sendMessages({ body: 2 });
  expect(broker.counters()).toMatchObject({ 'orders.messages': 1 });
  expect(broker.counters()['orders.locked']).toBeUndefined();
  await listener.close();
  expect(received).toEqual([1]);
});

test('rules that cannot be meant are refused at the start', async () => {
  await expect(
    startTestBroker([{ name: 'orders' }], {
      authorizationRules: [
        { keyName: 'a', key: 'b', rights: ['Send'], queue: 'nowhere' },
        { keyName: 'c', key: '', rights: [] },
      ],
    }),
  ).rejects.toThrow(/rule a: queue 'nowhere'.*rule c: keyName and key.*rule c: rights/);
});

const usualPort = 5672;

test.skipIf(!(await isPortFree(usualPort)))(
  'the connection string names no port when it is the usual one',
  async () => {
    const { broker } = await startTestBroker([{ name: 'orders' }], { port: usualPort });
    expect(broker.connectionString).toMatch(/^Endpoint=sb:\/\/127\.0\.0\.1;/);
    const client = createClient(broker.connectionString);
    await client.createSender('orders').sendMessages({ body: 1 });
    await receiveOne(client.createReceiver('orders'));
  },
);
