/**
 * The embedded broker beside its floor, a bare rhea echo, in the same run. Server and client are two processes, as in use.
 *
 *   node dist/bench/local-service-bus.js
 */
import { fork, type ChildProcess } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { subscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ServiceBusClient } from '@azure/service-bus';
import rhea, { type Connection, type EventContext, type Receiver, type Sender } from 'rhea';
import { startBroker } from '../local/service-bus/index.js';

/** How long the bench runs. */
export interface ServiceBusBenchOptions {
  readonly messages: number;
  readonly inFlight: number;
  readonly fsync: 'never' | 'always';
}

/** What the bench found. */
export interface ServiceBusFigures {
  /** Messages of 1 KB a second that a bare rhea server takes and sends back. */
  readonly echoPerSecond: number;
  /** The same client, the broker in place of the server: send, receive, complete. */
  readonly brokerPerSecond: number;
  /** Send, receive and complete with the official client, whose own cost is the larger part. */
  readonly officialClientPerSecond: number;
  readonly echoCpuMsPerMessage: number;
  readonly brokerCpuMsPerMessage: number;
  /** One message at a time with the official client, until it is accepted. */
  readonly sendP50Ms: number;
  readonly sendP99Ms: number;
  readonly brokerMemoryMiB: number;
}

type Role = 'broker' | 'echo';
type Fsync = ServiceBusBenchOptions['fsync'];

/** A server in a process of its own. */
interface Server {
  /** The connection string of the broker, or the port of the echo. */
  readonly address: string;
  readonly usage: () => Promise<Usage>;
}

interface Usage {
  readonly cpuMs: number;
  readonly memoryMiB: number;
}

const queue = 'bench';
const body = Buffer.alloc(1024, 'x');
const topology = { serviceBus: { queues: [{ name: queue }] } };
const singleSends = 1000;

/** Measures the broker and its floor. */
export async function benchServiceBus(options: ServiceBusBenchOptions): Promise<ServiceBusFigures> {
  // The official client leaves Nagle's algorithm on, which would cost 40 ms a message.
  subscribe('net.client.socket', (message) => {
    (message as { socket: Socket }).socket.setNoDelay(true);
  });
  const echo = await withServer('echo', options.fsync, async (server) => {
    const connection = await connect(Number(server.address));
    return measure(server, options, await bareLane(connection, options.inFlight));
  });
  return withServer('broker', options.fsync, async (server) => {
    const connection = await connect(Number(/127\.0\.0\.1:(\d+)/.exec(server.address)?.[1]));
    await putToken(connection, server.address);
    const broker = await measure(server, options, await bareLane(connection, options.inFlight));
    const client = new ServiceBusClient(server.address);
    const official = await measure(server, options, officialLane(client, options.inFlight));
    const single = await measureSingleSends(client);
    const { memoryMiB } = await server.usage();
    await client.close();
    return {
      echoPerSecond: echo.perSecond,
      brokerPerSecond: broker.perSecond,
      officialClientPerSecond: official.perSecond,
      echoCpuMsPerMessage: echo.cpuMsPerMessage,
      brokerCpuMsPerMessage: broker.cpuMsPerMessage,
      ...single,
      brokerMemoryMiB: memoryMiB,
    };
  });
}

/** Sends so many messages and resolves when all have come back. */
interface Lane {
  run(count: number): Promise<void>;
  close(): Promise<void>;
}

async function measure(
  server: Server,
  { messages }: ServiceBusBenchOptions,
  lane: Lane,
): Promise<{ perSecond: number; cpuMsPerMessage: number }> {
  await lane.run(Math.ceil(messages / 4)); // Warm.
  const before = await server.usage();
  const start = performance.now();
  await lane.run(messages);
  const perSecond = (messages * 1000) / (performance.now() - start);
  const cpuMsPerMessage = ((await server.usage()).cpuMs - before.cpuMs) / messages;
  await lane.close();
  return { perSecond, cpuMsPerMessage };
}

async function connect(port: number): Promise<Connection> {
  const connection = rhea.create_container().connect({ host: '127.0.0.1', port, username: 'bench', reconnect: false });
  connection.on('disconnected', () => undefined);
  await once(connection, 'connection_open');
  return connection;
}

async function bareLane(connection: Connection, inFlight: number): Promise<Lane> {
  const sender = connection.open_sender(queue);
  const receiver = connection.open_receiver({ source: queue, credit_window: inFlight });
  await once(sender, 'sendable');
  return {
    run: (count) => passThrough(sender, receiver, count, inFlight),
    close: () => {
      connection.close();
      return Promise.resolve();
    },
  };
}

function passThrough(sender: Sender, receiver: Receiver, count: number, inFlight: number): Promise<void> {
  return new Promise((resolve) => {
    let sent = 0;
    let received = 0;
    const next = (): void => {
      sent += 1;
      sender.send({ body: rhea.message.data_section(body) as unknown });
    };
    const onMessage = (): void => {
      received += 1;
      if (sent < count) next();
      if (received < count) return;
      receiver.removeListener('message', onMessage);
      resolve();
    };
    receiver.on('message', onMessage);
    while (sent < Math.min(inFlight, count)) next();
  });
}

function officialLane(client: ServiceBusClient, inFlight: number): Lane {
  const sender = client.createSender(queue);
  const receiver = client.createReceiver(queue);
  let left = 0;
  let finish: () => void = () => undefined;
  receiver.subscribe(
    {
      processMessage: () => {
        left -= 1;
        if (left === 0) finish();
        return Promise.resolve();
      },
      processError: ({ error }) => Promise.reject(error),
    },
    { maxConcurrentCalls: inFlight },
  );
  return {
    run: async (count) => {
      left = count;
      const finished = new Promise<void>((resolve) => (finish = resolve));
      let unsent = count;
      const send = async (): Promise<void> => {
        while (unsent > 0) {
          unsent -= 1;
          await sender.sendMessages({ body });
        }
      };
      await Promise.all(Array.from({ length: inFlight }, send));
      await finished;
    },
    close: () => receiver.close(),
  };
}

async function measureSingleSends(client: ServiceBusClient): Promise<{ sendP50Ms: number; sendP99Ms: number }> {
  const sender = client.createSender(queue);
  const latencies: number[] = [];
  for (let count = 0; count < singleSends; count += 1) {
    const start = performance.now();
    await sender.sendMessages({ body });
    latencies.push(performance.now() - start);
  }
  latencies.sort((one, other) => one - other);
  const at = (share: number): number => latencies[Math.floor(share * latencies.length)] ?? NaN;
  return { sendP50Ms: at(0.5), sendP99Ms: at(0.99) };
}

/** Lets a bare client in, as the official one does by itself. */
async function putToken(connection: Connection, connectionString: string): Promise<void> {
  const [, host = '', keyName = '', key = ''] =
    /sb:\/\/([^;]*);SharedAccessKeyName=([^;]*);SharedAccessKey=([^;]*)/.exec(connectionString) ?? [];
  const resource = `sb://${host}/${queue}`;
  const expiry = Math.floor(Date.now() / 1000) + 3600;
  const signed = `${encodeURIComponent(resource)}\n${expiry}`;
  const signature = encodeURIComponent(createHmac('sha256', key).update(signed).digest('base64'));
  const token = `SharedAccessSignature sr=${encodeURIComponent(resource)}&sig=${signature}&se=${expiry}&skn=${keyName}`;
  const receiver = connection.open_receiver({ name: 'token', source: '$cbs', target: 'token' });
  const sender = connection.open_sender('$cbs');
  await Promise.all([once(receiver, 'receiver_open'), once(sender, 'sendable')]);
  const properties = { operation: 'put-token', name: resource, type: 'servicebus.windows.net:sastoken' };
  sender.send({ message_id: 'token', reply_to: 'token', application_properties: properties, body: token });
  await once(receiver, 'message');
}

async function withServer<T>(role: Role, fsync: Fsync, use: (server: Server) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'bench-service-bus-'));
  const child = fork(fileURLToPath(import.meta.url), [role, directory, fsync]);
  try {
    const [address] = (await once(child, 'message')) as [string];
    return await use({ address, usage: () => askUsage(child) });
  } finally {
    child.kill('SIGKILL');
    await rm(directory, { recursive: true, force: true });
  }
}

async function askUsage(child: ChildProcess): Promise<Usage> {
  child.send('usage');
  const [usage] = (await once(child, 'message')) as [Usage];
  return usage;
}

async function serve(role: Role, directory: string, fsync: Fsync): Promise<void> {
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send?.({ cpuMs: (user + system) / 1000, memoryMiB: process.memoryUsage().rss / 2 ** 20 });
  });
  process.send?.(role === 'broker' ? await serveBroker(directory, fsync) : await serveEcho());
}

async function serveBroker(dataDirectory: string, fsync: Fsync): Promise<string> {
  return (await startBroker({ dataDirectory, fsync, topology })).connectionString;
}

async function serveEcho(): Promise<string> {
  const container = rhea.create_container();
  let back: Sender | undefined;
  container.on('sender_open', ({ sender }: EventContext) => {
    back = sender;
  });
  container.on('message', ({ message }: EventContext) => {
    if (message !== undefined) back?.send(message);
  });
  container.on('disconnected', () => undefined);
  const options = { port: 0, host: '127.0.0.1', tcp_no_delay: true };
  const listener = container.listen(options);
  await once(listener, 'listening');
  return String((listener.address() as AddressInfo).port);
}

const [, script, role, directory = '', fsync] = process.argv;
if (script === fileURLToPath(import.meta.url)) {
  if (role === 'broker' || role === 'echo') await serve(role, directory, fsync === 'always' ? 'always' : 'never');
  else print(await benchServiceBus({ messages: 20_000, inFlight: 64, fsync: 'never' }));
}

function print(figures: ServiceBusFigures): void {
  const { echoPerSecond, brokerPerSecond, officialClientPerSecond } = figures;
  console.log(
    `send + receive + complete, 64 in flight: ${brokerPerSecond.toFixed(0)}/s (bare echo ${echoPerSecond.toFixed(0)}/s, ` +
      `ratio ${(brokerPerSecond / echoPerSecond).toFixed(2)}), CPU of the server ` +
      `${figures.brokerCpuMsPerMessage.toFixed(3)} ms (echo ${figures.echoCpuMsPerMessage.toFixed(3)} ms)\n` +
      `with the official client: ${officialClientPerSecond.toFixed(0)}/s; ` +
      `one send p50 ${figures.sendP50Ms.toFixed(2)} ms, p99 ${figures.sendP99Ms.toFixed(2)} ms; ` +
      `memory ${figures.brokerMemoryMiB.toFixed(0)} MiB`,
  );
}
