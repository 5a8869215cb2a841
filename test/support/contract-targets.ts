/**
 * What the contract suites run on: in memory, the embedded parts, and – when a variable names one – an official emulator
 * or Azure (CONTRACT_COSMOS_ENDPOINT with CONTRACT_COSMOS_KEY, CONTRACT_SERVICE_BUS_CONNECTION). Those must have the
 * containers and queues of infra/topology.json; every test uses ids of its own there.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from '@azure/cosmos';
import { CosmosClient } from '@azure/cosmos';
import { ServiceBusClient } from '@azure/service-bus';
import { startCosmosDb } from '../../local/cosmos-db/index.js';
import { startBroker } from '../../local/service-bus/index.js';
import { createClient, database, projectTopology } from './cosmos-db.js';

/** A real service, and how to let go of it. */
export interface Opened<Service> {
  readonly service: Service;
  readonly close: () => Promise<void>;
}

/** A service by its name. */
export interface Target<Service> {
  readonly name: string;
  readonly open: () => Promise<Opened<Service>>;
}

/** Everything that speaks Cosmos DB. */
export function cosmosTargets(): readonly Target<Database>[] {
  const { CONTRACT_COSMOS_ENDPOINT: endpoint, CONTRACT_COSMOS_KEY: key } = process.env;
  const named =
    endpoint === undefined || key === undefined ? [] : [{ name: endpoint, open: () => openNamed(endpoint, key) }];
  return [{ name: 'the embedded Cosmos DB', open: openEmbedded }, ...named];
}

async function openEmbedded(): Promise<Opened<Database>> {
  const directory = temporaryDirectory();
  const server = await startCosmosDb({ dataDirectory: directory, fsync: 'never', topology: projectTopology });
  const client = createClient(server);
  const close = async (): Promise<void> => {
    client.dispose();
    await server.close();
    rmSync(directory, { recursive: true, force: true });
  };
  return { service: client.database(database), close };
}

function openNamed(endpoint: string, key: string): Promise<Opened<Database>> {
  const client = new CosmosClient({ endpoint, key });
  const close = (): Promise<void> => {
    client.dispose();
    return Promise.resolve();
  };
  return Promise.resolve({ service: client.database(database), close });
}

/** Everything that speaks Service Bus. */
export function serviceBusTargets(): readonly Target<ServiceBusClient>[] {
  const { CONTRACT_SERVICE_BUS_CONNECTION: connection } = process.env;
  const named = connection === undefined ? [] : [{ name: 'the named Service Bus', open: () => openBus(connection) }];
  return [{ name: 'the embedded Service Bus', open: openEmbeddedBus }, ...named];
}

function openBus(connection: string): Promise<Opened<ServiceBusClient>> {
  const client = new ServiceBusClient(connection, { retryOptions: { maxRetries: 0, timeoutInMs: 5_000 } });
  return Promise.resolve({ service: client, close: () => client.close() });
}

async function openEmbeddedBus(): Promise<Opened<ServiceBusClient>> {
  const directory = temporaryDirectory();
  const broker = await startBroker({ dataDirectory: directory, fsync: 'never', topology: projectTopology });
  const { service, close } = await openBus(broker.connectionString);
  const closeAll = async (): Promise<void> => {
    await close();
    await broker.close();
    rmSync(directory, { recursive: true, force: true });
  };
  return { service, close: closeAll };
}

function temporaryDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'contract-'));
}

let ids = 0;

/** An id that no other test has used, in this run or an earlier one. */
export function uniqueId(): string {
  ids += 1;
  return `c${Date.now().toString(36)}-${process.pid}-${ids}`;
}
