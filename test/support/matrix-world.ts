/**
 * The world of the fault matrix: the whole local stack with short deadlines, a remote service outside the host, and an
 * application that sends orders and keeps every status it is told.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { CosmosClient } from '@azure/cosmos';
import type { Container } from '@azure/cosmos';
import { ServiceBusClient } from '@azure/service-bus';
import type { ServiceBusSender } from '@azure/service-bus';
import type { StatusMessage } from '../../functions/contracts/status-message.js';
import type { StateRecord } from '../../functions/state/state-record.js';
import type { FaultPlan } from '../../local/faults/index.js';
import { findProjectRoot, readJsonFile } from '../../local/project.js';
import { startStack } from '../../local/stack.js';
import type { PartName, Stack, StackOptions } from '../../local/stack.js';
import { orderMessage } from './builders.js';
import { startMatrixRemote } from './matrix-remote.js';
import type { MatrixRemote } from './matrix-remote.js';

/** Attempts after which an order is given up in the matrix. */
export const matrixMaxFailures = 3;

const everySecond = '* * * * * *';

/** Deadlines as short as a busy machine allows. */
export const matrixSettings: Readonly<Record<string, string>> = {
  STARTER_SCHEDULE: everySecond,
  SUPERVISOR_SCHEDULE: everySecond,
  SUPERVISOR_AUDIT_SCHEDULE: '0 0 0 1 1 *',
  SUPERVISOR_GRACE_MS: '100',
  CLAIM_LEASE_MS: '2500',
  STEP_DEADLINE_MS: '2000',
  RETRY_BACKOFF_MS: '100',
  RETRY_MAX_BACKOFF_MS: '200',
  RELEASE_BACKOFF_MS: '100',
  AGENT_RETRY_DELAY_MS: '20',
  MAX_FAILURES: String(matrixMaxFailures),
  BREAKER_FAILURES: '1000',
};

/** A running world. */
export interface MatrixWorld {
  readonly stack: Stack;
  readonly remote: MatrixRemote;
  readonly bus: ServiceBusClient;
  readonly orders: Container;
  readonly records: Container;
  readonly ledger: Container;
  /** What starter and operators say about intake. */
  readonly control: Container;
  /** Sends an order message and resolves when the broker has accepted it. */
  send(body: unknown, messageId: string): Promise<void>;
  record(orderId: string): Promise<StateRecord | undefined>;
  /** Every status message of an order, repeats included, in the order of arrival. */
  statuses(orderId: string): readonly StatusMessage[];
  setFault(part: PartName, plan?: FaultPlan): Promise<void>;
  close(): Promise<void>;
}

/** The topology with the shortest lock that the broker allows: what a dead host has locked comes back soon. */
export function matrixTopology(): unknown {
  const topology = readJsonFile(`${findProjectRoot()}/infra/topology.json`, 'the topology') as {
    serviceBus: { queueDefaults: object };
  };
  const queueDefaults = { ...topology.serviceBus.queueDefaults, lockDuration: 'PT5S' };
  return { ...topology, serviceBus: { ...topology.serviceBus, queueDefaults } };
}

/** Starts a world; `settings` win over the matrix's own. */
export async function startMatrixWorld(options: StackOptions = {}): Promise<MatrixWorld> {
  const remote = await startMatrixRemote();
  const urls = Object.fromEntries(
    ['payment', 'inventory', 'shipping', 'invoice'].map((name) => [
      `${name.toUpperCase()}_URL`,
      `${remote.url}/${name}`,
    ]),
  );
  const stack = await startStack({
    topology: matrixTopology(),
    ...options,
    settings: { ...matrixSettings, ...urls, ...options.settings },
  });
  remote.handOnTo(stack.hostUrl);
  const bus = new ServiceBusClient(stack.connectionString, {
    retryOptions: { maxRetries: 20, retryDelayInMs: 100, maxRetryDelayInMs: 500, timeoutInMs: 10_000 },
  });
  const cosmos = new CosmosClient({ endpoint: stack.cosmosEndpoint, key: stack.cosmosKey });
  const database = cosmos.database('order-processing');
  const application = receiveStatuses(bus);
  const sender = bus.createSender('orders');
  const records = database.container('order-state');
  return {
    stack,
    remote,
    bus,
    orders: database.container('orders'),
    records,
    ledger: database.container('demo-ledger'),
    control: database.container('control'),
    send: (body, messageId) => sendOrder(sender, body, messageId),
    record: async (orderId) => (await records.item(orderId, orderId).read<StateRecord>()).resource,
    statuses: (orderId) => application.statuses.get(orderId) ?? [],
    setFault: (part, plan) => stack.setFaults(part, plan),
    close: async () => {
      await application.close();
      await bus.close();
      cosmos.dispose();
      await stack.stop();
      await remote.close();
    },
  };
}

async function sendOrder(sender: ServiceBusSender, body: unknown, messageId: string): Promise<void> {
  await sender.sendMessages({ body, messageId, contentType: 'application/json' });
}

/** The order of a cell, as its application sends it. */
export function matrixOrder(orderId: string, overrides: Readonly<Record<string, unknown>> = {}): unknown {
  return orderMessage({ orderId, ...overrides });
}

interface Application {
  readonly statuses: ReadonlyMap<string, readonly StatusMessage[]>;
  close(): Promise<void>;
}

function receiveStatuses(bus: ServiceBusClient): Application {
  const statuses = new Map<string, StatusMessage[]>();
  const receiver = bus.createReceiver('status-web-shop');
  const subscription = receiver.subscribe(
    {
      processMessage: (message) => {
        const status = message.body as StatusMessage;
        statuses.set(status.orderId, [...(statuses.get(status.orderId) ?? []), status]);
        return Promise.resolve();
      },
      processError: () => Promise.resolve(), // The subscription comes back by itself.
    },
    { maxConcurrentCalls: 16 },
  );
  return {
    statuses,
    close: async () => {
      await subscription.close();
      await receiver.close();
    },
  };
}

/** What did not come true in time. */
export class NotInTime extends Error {
  override readonly name = 'NotInTime';
}

const pollMs = 20;

/** Looks again and again until the answer is neither undefined nor false. While a part is away, a look is in vain. */
export async function eventually<Value>(
  what: string,
  look: () => Promise<Value | undefined | false> | Value | undefined | false,
  limitMs = 30_000,
): Promise<Value> {
  const start = performance.now();
  let cause: unknown;
  for (;;) {
    try {
      const found = await look();
      if (found !== undefined && found !== false) return found;
    } catch (error) {
      cause = error;
    }
    if (performance.now() - start > limitMs) throw new NotInTime(`not in ${limitMs} ms: ${what}`, { cause });
    await delay(pollMs);
  }
}
