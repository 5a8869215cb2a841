/** The whole app on its own local stack, with remote services in the test's process and readers on the app's queues. */
import type { Database } from '@azure/cosmos';
import { CosmosClient } from '@azure/cosmos';
import { ServiceBusClient } from '@azure/service-bus';
import type { ServiceBusMessage } from '@azure/service-bus';
import { startStack } from '../../local/stack.js';
import type { Stack } from '../../local/stack.js';
import { eventually } from './app-eventually.js';
import { openInbox, openStatusInbox } from './app-inbox.js';
import type { Inbox, StatusInbox } from './app-inbox.js';
import { createAppLog } from './app-log.js';
import type { AppLog } from './app-log.js';
import { startRemote } from './app-remote.js';
import { projectTopology } from './cosmos-db.js';
import type { Remote } from './app-remote.js';

const masterKey = 'master-key-of-the-test-host';

/** Settings that make failures come soon, and leave slow machines room to succeed. */
const testSettings: Readonly<Record<string, string>> = {
  STARTER_SCHEDULE: '* * * * * *',
  SUPERVISOR_SCHEDULE: '* * * * * *',
  SUPERVISOR_GRACE_MS: '200',
  CLAIM_LEASE_MS: '5000',
  STEP_DEADLINE_MS: '15000',
  RETRY_BACKOFF_MS: '100',
  RELEASE_BACKOFF_MS: '200',
  AGENT_RETRY_DELAY_MS: '50',
  BREAKER_FAILURES: '1000',
  INTAKE_REFRESH_MS: '100',
  FunctionsHost__MasterKey: masterKey,
};

/** A running app. */
export interface App {
  readonly stack: Stack;
  readonly bus: ServiceBusClient;
  readonly database: Database;
  readonly remote: Remote;
  readonly log: AppLog;
  readonly statuses: Readonly<Record<'web-shop' | 'mobile-app', StatusInbox>>;
  /** What is in `<queue>-dead-letter` of the queue `orders`. */
  readonly orderDeadLetters: Inbox;
  /** Sends a message until the broker has it. */
  send(queue: string, message: ServiceBusMessage): Promise<void>;
  /** Runs a function now, beside its trigger. */
  invoke(functionName: string): Promise<void>;
  /** Calls an HTTP function with the host's key. */
  fetch(path: string, request?: { readonly method: string; readonly body?: unknown }): Promise<HttpAnswer>;
  /** The runtime's view of an orchestration, its history included; `undefined` when it knows none. */
  instance(instanceId: string): Promise<Readonly<Record<string, unknown>> | undefined>;
  /** Starts an orchestration as a durable client does; false when the runtime refuses. */
  startInstance(orchestrator: string, instanceId: string, input: object): Promise<boolean>;
  stop(): Promise<void>;
}

/** What an HTTP function answered. */
export interface HttpAnswer {
  readonly status: number;
  readonly json: unknown;
}

const remoteServices = {
  PAYMENT_URL: 'payment',
  INVENTORY_URL: 'inventory',
  SHIPPING_URL: 'shipping',
  INVOICE_URL: 'invoice',
};

/** Starts the app; `settings` win over those that all tests share. `lockDuration`: of every queue, as `PT5S`. */
export async function startApp(
  settings: Readonly<Record<string, string>> = {},
  { lockDuration }: { readonly lockDuration?: string } = {},
): Promise<App> {
  const remote = await startRemote();
  const log = createAppLog();
  const remoteUrls = Object.fromEntries(
    Object.entries(remoteServices).map(([name, service]) => [name, `${remote.url}/${service}`]),
  );
  const stack = await startStack({
    settings: { ...testSettings, ...remoteUrls, ...settings },
    log: log.take,
    ...(lockDuration === undefined ? {} : { topology: topologyWith(lockDuration) }),
  });
  const bus = new ServiceBusClient(stack.connectionString, { retryOptions: { maxRetries: 10, retryDelayInMs: 100 } });
  const cosmos = new CosmosClient({ endpoint: stack.cosmosEndpoint, key: stack.cosmosKey });
  const statuses = {
    'web-shop': openStatusInbox(bus, 'web-shop'),
    'mobile-app': openStatusInbox(bus, 'mobile-app'),
  };
  const orderDeadLetters = openInbox(bus, 'orders-dead-letter');
  return {
    stack,
    bus,
    remote,
    log,
    statuses,
    orderDeadLetters,
    database: cosmos.database(stack.settings['COSMOS_DATABASE'] ?? ''),
    send: (queue, message) => send(bus, queue, message),
    invoke: (functionName) => invokeFunction(stack, functionName),
    fetch: (path, request) => call(stack, path, request),
    instance: (instanceId) => instance(stack, instanceId),
    startInstance: (...start) => startInstance(stack, ...start),
    stop: async () => {
      await Promise.all([statuses['web-shop'].close(), statuses['mobile-app'].close(), orderDeadLetters.close()]);
      await bus.close();
      await stack.stop();
      await remote.close();
    },
  };
}

function topologyWith(lockDuration: string): unknown {
  const { serviceBus, ...others } = projectTopology as { serviceBus: { queueDefaults: object } };
  const queueDefaults = { ...serviceBus.queueDefaults, lockDuration };
  return { ...others, serviceBus: { ...serviceBus, queueDefaults } };
}

async function send(bus: ServiceBusClient, queue: string, message: ServiceBusMessage): Promise<void> {
  await eventually(async () => {
    const sender = bus.createSender(queue);
    try {
      await sender.sendMessages(message);
    } finally {
      await sender.close();
    }
  });
}

/** Runs a function of a stack now, beside its trigger. */
export async function invokeFunction(stack: Stack, functionName: string): Promise<void> {
  const response = await fetch(`${stack.hostUrl}/admin/functions/${functionName}`, { method: 'POST', body: '{}' });
  if (response.status !== 202) throw new Error(`${functionName}: ${response.status} ${await response.text()}`);
}

async function call(
  { hostUrl, hostKey = '' }: Stack,
  path: string,
  { method, body }: { readonly method: string; readonly body?: unknown } = { method: 'GET' },
): Promise<HttpAnswer> {
  const headers = { 'x-functions-key': hostKey, 'content-type': 'application/json' };
  const payload = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(`${hostUrl}/api/${path}`, { method, headers, ...payload });
  const text = await response.text();
  return { status: response.status, json: text === '' ? undefined : (JSON.parse(text) as unknown) };
}

async function instance(
  { hostUrl }: Stack,
  instanceId: string,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const query = new URLSearchParams({ code: masterKey, showHistory: 'true', showHistoryOutput: 'true' });
  const response = await fetch(`${hostUrl}/runtime/webhooks/durabletask/instances/${instanceId}?${query.toString()}`);
  if (response.status === 404) return undefined;
  return (await response.json()) as Readonly<Record<string, unknown>>;
}

async function startInstance(
  { hostUrl }: Stack,
  orchestrator: string,
  instanceId: string,
  input: object,
): Promise<boolean> {
  const path = `runtime/webhooks/durabletask/orchestrators/${orchestrator}/${instanceId}?code=${masterKey}`;
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${hostUrl}/${path}`, { method: 'POST', headers, body: JSON.stringify(input) });
  return response.status === 202;
}
