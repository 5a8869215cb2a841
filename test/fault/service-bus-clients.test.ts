import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import rhea, { type EventContext } from 'rhea';
import { expect, test, vi } from 'vitest';
import type { Broker } from '../../local/service-bus/index.js';
import { connectAmqp } from '../support/service-bus-amqp-client.js';
import { cleanUp, receiveOne, startTestBroker, until, type TestBroker } from '../support/service-bus-broker.js';

const amqpHeader = Buffer.from('AMQP\x00\x01\x00\x00', 'latin1');

/** A frame around an encoded performative. */
function frame(body: Buffer): Buffer {
  const head = Buffer.from([0, 0, 0, 0, 2, 0, 0, 0]);
  head.writeUInt32BE(8 + body.length);
  return Buffer.concat([head, body]);
}

const open = frame(Buffer.from([0x00, 0x53, 0x10, 0xc0, 0x04, 0x01, 0xa1, 0x01, 0x78]));

async function connectSocket(broker: Broker): Promise<Socket> {
  const socket = connect(broker.port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.on('data', () => undefined);
  cleanUp(() => Promise.resolve(socket.destroy()));
  await once(socket, 'connect');
  return socket;
}

/** Proves that everybody else is still served. */
async function expectService({ client, broker }: TestBroker): Promise<void> {
  await client.createSender('service').sendMessages({ body: 'still here' });
  const receiver = client.createReceiver('service', { receiveMode: 'receiveAndDelete' });
  expect((await receiveOne(receiver)).body).toBe('still here');
  expect(broker.counters()['internalErrors'] ?? 0).toBe(0);
}

const nested = Buffer.concat([...Array.from({ length: 5000 }, () => Buffer.from([0x00])), Buffer.from([0x40])]);

test.each([
  ['bytes of no protocol', Buffer.from('\u0000\u0001\u0002 hello, broker, do you speak this?')],
  ['the header of AMQP 0.9', Buffer.from('AMQP\x00\x00\x09\x01', 'latin1')],
  ['a frame larger than agreed', Buffer.concat([amqpHeader, Buffer.from([0x7f, 0xff, 0xff, 0xff, 2, 0, 0, 0])])],
  ['a frame of no size', Buffer.concat([amqpHeader, Buffer.alloc(16)])],
  ['a frame with a bad offset', Buffer.concat([amqpHeader, Buffer.from([0, 0, 0, 9, 1, 0, 0, 0, 0x40])])],
  ['a frame without a performative', Buffer.concat([amqpHeader, frame(Buffer.from([0x40]))])],
  ['a performative nobody knows', Buffer.concat([amqpHeader, frame(Buffer.from([0x00, 0x53, 0x99, 0x45]))])],
  [
    'a performative that is cut short',
    Buffer.concat([amqpHeader, frame(Buffer.from([0x00, 0x53, 0x10, 0xc0, 9, 2, 0x40]))]),
  ],
  ['a value nested thousands of times', Buffer.concat([amqpHeader, frame(nested)])],
  ['two opens', Buffer.concat([amqpHeader, open, open])],
  ['a transfer before any link', Buffer.concat([amqpHeader, open, frame(Buffer.from([0x00, 0x53, 0x14, 0x45]))])],
])('%s ends that connection alone, and both sides are told why', async (_name, bytes) => {
  const started = await startTestBroker([{ name: 'orders' }, { name: 'service' }]);
  const socket = await connectSocket(started.broker);
  const received: Buffer[] = [];
  socket.on('data', (chunk) => received.push(chunk));
  socket.write(bytes);
  await once(socket, 'close');
  const speaksAmqp = bytes.subarray(0, 8).equals(amqpHeader);
  const answer = Buffer.concat(received).toString('latin1');
  expect(answer).toContain(speaksAmqp ? 'amqp:connection:framing-error' : 'AMQP\u0003\u0001\u0000\u0000');
  expect(started.log.join()).toMatch(
    speaksAmqp ? /ended with amqp:connection:framing-error: \w/ : /tries another protocol/,
  );
  await expectService(started);
});

test('a client that falls silent is told so, and the broker says it', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  cleanUp(() => Promise.resolve(vi.useRealTimers()));
  const started = await startTestBroker([{ name: 'orders' }]);
  const socket = await connectSocket(started.broker);
  const received: Buffer[] = [];
  socket.on('data', (chunk) => received.push(chunk));
  socket.write(Buffer.concat([amqpHeader, open]));
  await once(socket, 'data');
  vi.advanceTimersByTime(240_000);
  await once(socket, 'data');
  expect(Buffer.concat(received).toString('latin1')).toContain('max idle time exceeded');
  expect(started.log.join()).toContain('not even a heartbeat');
});

test('a client that never opens its connection is told so, and the broker says it', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  cleanUp(() => Promise.resolve(vi.useRealTimers()));
  const started = await startTestBroker([{ name: 'orders' }]);
  const socket = await connectSocket(started.broker);
  const received: Buffer[] = [];
  socket.on('data', (chunk) => received.push(chunk));
  socket.write(amqpHeader);
  await once(socket, 'data');
  vi.advanceTimersByTime(20_000);
  await once(socket, 'close');
  expect(Buffer.concat(received).toString('latin1')).toContain('was not opened within 20 seconds');
  expect(started.log.join()).toContain('was not opened within 20 seconds');
});

test('two links of one name in opposite directions are two links', async () => {
  const started = await authorized();
  const receiver = started.connection.open_receiver({ name: 'orders', source: 'orders' });
  await once(receiver, 'receiver_open');
  // The client library keeps one table for both directions as well; another name there leaves what it sends as it is.
  const { links } = (receiver as unknown as { session: { links: Record<string, unknown> } }).session;
  links['orders, receiving'] = links['orders'];
  delete links['orders'];
  const received = once(receiver, 'message') as Promise<[EventContext]>;
  const sender = started.connection.open_sender({ name: 'orders', target: 'orders' });
  await once(sender, 'sendable');
  expect(sender.name).toBe('orders');
  sender.send({ message_id: 'm', body: rhea.message.data_section(Buffer.from('x')) as unknown });
  await once(sender, 'accepted');
  expect((await received)[0].message?.message_id).toBe('m');
  sender.close();
  await once(sender, 'sender_close');
  expect(receiver.is_open()).toBe(true);
  await expectService(started);
});

test('a frame that claims an array of four thousand million nulls ends that connection alone', async () => {
  const started = await startTestBroker([{ name: 'orders' }, { name: 'service' }]);
  const socket = await connectSocket(started.broker);
  const array = Buffer.from([0xf0, 0, 0, 0, 5, 0xff, 0xff, 0xff, 0xff, 0x40]);
  const list = Buffer.concat([Buffer.from([0x00, 0x53, 0x10, 0xc0, array.length + 1, 1]), array]);
  socket.write(Buffer.concat([amqpHeader, frame(list)]));
  await once(socket, 'close');
  await expectService(started);
});

async function authorized() {
  const started = await startTestBroker([{ name: 'orders' }, { name: 'service' }]);
  const raw = await connectAmqp(started.broker);
  await raw.authorize('orders');
  return { ...started, ...raw };
}

test('a disposition of every delivery there can be ends that connection alone', async () => {
  const started = await authorized();
  const session = (started.connection as unknown as { local_channel_map: Record<number, RawSession> })
    .local_channel_map[0];
  const frames = await rheaFrames();
  session?.output(frames.disposition({ role: true, first: 0, last: 0xffff_ffff, settled: true }));
  await once(started.connection, 'connection_error');
  const reason = 'A disposition names too many deliveries.';
  expect(started.connection.error).toMatchObject({ condition: 'amqp:connection:framing-error', description: reason });
  expect(started.log.join()).toContain(`ended with amqp:connection:framing-error: ${reason}`);
  await expectService(started);
});

interface RawSession {
  output(performative: unknown): void;
}

const framesModule: string = 'rhea/lib/frames.js';

async function rheaFrames(): Promise<{ disposition(fields: object): unknown }> {
  return ((await import(framesModule)) as { default: { disposition(fields: object): unknown } }).default;
}

test.each([
  ['bytes that are no message', Buffer.from([1, 2, 3])],
  ['a message without a body', Buffer.from([0x00, 0x53, 0x73, 0x45])],
  ['sections out of order', Buffer.from([0x00, 0x53, 0x77, 0x40, 0x00, 0x53, 0x70, 0x45])],
  ['a section that is cut short', Buffer.from([0x00, 0x53, 0x75, 0xa0, 0x10, 0x01])],
  [
    'a message-id of a type that is no id',
    Buffer.from([0x00, 0x53, 0x73, 0xc0, 2, 1, 0x41, 0x00, 0x53, 0x75, 0xa0, 0]),
  ],
  ['thousands of nested values', Buffer.concat([Buffer.from([0x00, 0x53, 0x77]), nested])],
])('%s: refused on its delivery, and the link goes on', async (_name, bytes) => {
  const started = await authorized();
  const sender = started.connection.open_sender('orders');
  await once(sender, 'sendable');
  sender.send(bytes, undefined, 0);
  const [{ delivery }] = (await once(sender, 'rejected')) as [EventContext];
  expect((delivery?.remote_state as { error: { condition: string } }).error.condition).toBe('amqp:decode-error');
  sender.send({ body: rhea.message.data_section(Buffer.from('good')) as unknown });
  await once(sender, 'accepted');
  expect(started.broker.counters()['orders.messages']).toBe(1);
});

test('transactions are refused with the name of what has them', async () => {
  const { connection } = await authorized();
  const sender = connection.open_sender('orders');
  const attach = (sender as unknown as { local: { attach: { target: unknown } } }).local.attach;
  const types = rhea.types as unknown as { described(descriptor: unknown, value: unknown): unknown };
  attach.target = types.described(rhea.types.wrap_ulong(0x30), rhea.types.wrap_list([]));
  await once(sender, 'sender_error');
  expect((sender.error as { description: string }).description).toMatch(/not support transactions.*emulator or Azure/);
});

const badRequests = [
  { what: 'an unknown operation', operation: 'add-rule', body: {}, status: 501, says: /add-rule.*emulator or Azure/ },
  { what: 'a body that is no map', operation: 'peek-message', body: 'text', status: 400, says: /must be a map/ },
  { what: 'a missing field', operation: 'renew-lock', body: {}, status: 400, says: /lock-tokens must be a list/ },
  {
    what: 'a field of another type',
    operation: 'peek-message',
    body: { 'message-count': 'x' },
    status: 400,
    says: /message-count must be a whole number/,
  },
];

test.each(badRequests)('a management request with $what gets an answer that says so', async (bad) => {
  const { request } = await authorized();
  const operation = `com.microsoft:${bad.operation}`;
  const answer = await request('orders/$management', { application_properties: { operation }, body: bad.body });
  expect(answer.application_properties?.['status-code']).toBe(bad.status);
  expect(answer.application_properties?.['status-description']).toMatch(bad.says);
});

test('a request that cannot be read is refused on its delivery', async () => {
  const started = await authorized();
  for (const node of ['$cbs', 'orders/$management']) {
    const sender = started.connection.open_sender(node);
    await once(sender, 'sendable');
    sender.send(Buffer.from([9, 9, 9]), undefined, 0);
    await once(sender, 'rejected');
  }
  await expectService(started);
});

test('a request whose body cannot be read is answered, because its head says where to', async () => {
  const started = await authorized();
  const receiver = started.connection.open_receiver({ name: 'reply', source: 'orders/$management', target: 'reply' });
  const sender = started.connection.open_sender('orders/$management');
  await Promise.all([once(receiver, 'receiver_open'), once(sender, 'sendable')]);
  const answered = once(receiver, 'message') as Promise<[EventContext]>;
  const request = rhea.message.encode({ message_id: 'r1', reply_to: 'reply', body: 'x'.repeat(300) });
  sender.send(request.subarray(0, request.length - 1), undefined, 0);
  const [{ message: answer }] = await answered;
  expect(answer?.correlation_id).toBe('r1');
  expect(answer?.application_properties).toMatchObject({ statusCode: 400, errorCondition: 'amqp:decode-error' });
  await expectService(started);
});

test('a request that names no open link for its answer is refused on its delivery', async () => {
  const { connection } = await authorized();
  const sender = connection.open_sender('orders/$management');
  await once(sender, 'sendable');
  sender.send({ message_id: 'r1', reply_to: 'nowhere', body: {} });
  const [{ delivery }] = (await once(sender, 'rejected')) as [EventContext];
  expect((delivery?.remote_state as { error: { description: string } }).error.description).toMatch(
    /reply-to of the request must be/,
  );
});

test('a failed request names its condition as a symbol, which clients in .NET insist on', async () => {
  const { connection, request } = await authorized();
  const bytes: Buffer[] = [];
  (connection as unknown as { socket: Socket }).socket.on('data', (chunk: Buffer) => bytes.push(chunk));
  const operation = 'com.microsoft:cancel-scheduled-message';
  await request('orders/$management', { application_properties: { operation }, body: { 'sequence-numbers': [7] } });
  const condition = 'com.microsoft:message-not-found';
  for (const name of ['error-condition', 'errorCondition']) {
    const entry = `\u00a1${String.fromCharCode(name.length)}${name}\u00a3${String.fromCharCode(condition.length)}${condition}`;
    expect(Buffer.concat(bytes).toString('latin1')).toContain(entry);
  }
});

test('a token for nothing, without a type, or of another kind is refused', async () => {
  const { request } = await authorized();
  const ask = async (properties: object, body: unknown): Promise<unknown> =>
    (await request('$cbs', { application_properties: properties, body })).application_properties?.['status-code'];
  expect(await ask({}, 'x')).toBe(400);
  expect(await ask({ operation: 'put-token', name: 'sb://h/orders' }, Buffer.from('x'))).toBe(400);
  expect(await ask({ operation: 'put-token', name: 'sb://h/orders', type: 'jwt' }, 'x.y.z')).toBe(401);
  expect(await ask({ operation: 'put-token', name: 'sb://h/nowhere' }, 'x')).toBe(404);
  expect(await ask({ operation: 'put-token', name: 'sb://h/t/Subscriptions/s' }, 'x')).toBe(501);
});

test('a client that asks and does not read gets no more answers than the credit it was given', async () => {
  const started = await authorized();
  await started.client.createSender('orders').sendMessages({ body: Buffer.alloc(200 * 1024) });
  const receiver = started.connection.open_receiver({ name: 'reply', source: 'orders/$management', target: 'reply' });
  const sender = started.connection.open_sender('orders/$management');
  await Promise.all([once(receiver, 'receiver_open'), once(sender, 'sendable')]);
  const { socket } = started.connection as unknown as { socket: Socket };
  socket.pause();
  for (let asked = 0; asked < 1000; asked += 1) {
    sender.send({
      message_id: asked,
      reply_to: 'reply',
      application_properties: { operation: 'com.microsoft:peek-message' },
      body: { 'from-sequence-number': 1, 'message-count': 1 },
    });
  }
  await until(() => (started.broker.counters()['orders.managementRequests'] ?? 0) >= 1);
  await expectService(started);
  expect(started.broker.counters()['orders.managementRequests']).toBeLessThanOrEqual(100);
  socket.destroy();
});

test('a thousand idle connections disturb nobody', async () => {
  const started = await startTestBroker([{ name: 'orders' }, { name: 'service' }]);
  await Promise.all(Array.from({ length: 1000 }, () => connectSocket(started.broker)));
  await until(() => started.broker.counters()['connections'] === 1000);
  await expectService(started);
});
