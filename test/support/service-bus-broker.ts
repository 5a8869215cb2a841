import { subscribe } from 'node:diagnostics_channel';
import { mkdtemp, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  ServiceBusClient,
  type RetryOptions,
  type ServiceBusReceivedMessage,
  type ServiceBusReceiver,
} from '@azure/service-bus';
import { afterEach } from 'vitest';
import { startBroker, type Broker, type BrokerOptions } from '../../local/service-bus/index.js';
import { createManualClock, type ManualClock } from './service-bus-clock.js';

const clientSockets = new Set<Socket>();

subscribe('net.client.socket', (message) => {
  const { socket } = message as { socket: Socket };
  socket.setNoDelay(true); // The client leaves Nagle's algorithm on; with it each round trip would take 40 ms.
  clientSockets.add(socket);
  socket.on('close', () => clientSockets.delete(socket));
});

/** Connections of this process that their clients take for open. */
export function openClientSockets(): number {
  return clientSockets.size;
}

const undo: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const action of undo.splice(0).reverse()) await action();
});

/** Registers what must be closed or removed after the test. */
export function cleanUp(action: () => Promise<unknown>): void {
  undo.push(action);
}

/** A directory that is removed after the test. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'service-bus-'));
  cleanUp(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** One queue's properties as they stand in a topology. */
export type QueueProperties = Readonly<Record<string, unknown>> & { readonly name: string };

/** A topology of these queues alone. */
export function topologyOf(...queues: QueueProperties[]): unknown {
  return { serviceBus: { queues } };
}

/** A broker with a clock to move and a client to use. */
export interface TestBroker {
  readonly broker: Broker;
  readonly clock: ManualClock;
  readonly client: ServiceBusClient;
  /** What the broker has said about its connections. */
  readonly log: readonly string[];
}

/** Starts a broker for one test; it ends with the test. */
export async function startTestBroker(
  queues: readonly QueueProperties[],
  options: Partial<BrokerOptions> = {},
): Promise<TestBroker> {
  const clock = createManualClock();
  const log: string[] = [];
  const broker = await startBroker({
    dataDirectory: options.dataDirectory ?? (await temporaryDirectory()),
    fsync: 'never',
    topology: topologyOf(...queues),
    clock,
    log: (line) => log.push(line),
    ...options,
  });
  cleanUp(() => broker.close());
  return { broker, clock, client: createClient(broker.connectionString), log };
}

/** A client that reports failures at once instead of after the SDK's minute of retries. */
export function createClient(connectionString: string, retryOptions: RetryOptions = {}): ServiceBusClient {
  const client = new ServiceBusClient(connectionString, {
    retryOptions: { maxRetries: 0, timeoutInMs: 3000, retryDelayInMs: 10, ...retryOptions },
  });
  // A client whose connection was cut waits a minute for an answer to its close.
  cleanUp(() => Promise.race([client.close(), pause(500)]));
  return client;
}

/** Receives exactly this many messages. */
export async function receive(receiver: ServiceBusReceiver, count: number): Promise<ServiceBusReceivedMessage[]> {
  const messages: ServiceBusReceivedMessage[] = [];
  while (messages.length < count) {
    const more = await receiver.receiveMessages(count - messages.length, { maxWaitTimeInMs: 3000 });
    if (more.length === 0) throw new Error(`Only ${messages.length} of ${count} messages came.`);
    messages.push(...more);
  }
  return messages;
}

/** Receives one message. */
export async function receiveOne(receiver: ServiceBusReceiver): Promise<ServiceBusReceivedMessage> {
  const [message] = await receive(receiver, 1);
  if (message === undefined) throw new Error('No message came.');
  return message;
}

/** The code of the error a promise ends with; fails when it ends well. */
export async function errorCode(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    return String((error as { code?: unknown }).code);
  }
  throw new Error('The operation has succeeded.');
}

/** Waits until a condition holds, leaving the processor to the broker meanwhile; the test's time limit bounds it. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await pause(2);
}
