/** One client of each kind for the whole process (C100): keys only on a laptop, managed identity in Azure. */
import diagnosticsChannel from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { CosmosClient } from '@azure/cosmos';
import type { Database } from '@azure/cosmos';
import { ManagedIdentityCredential } from '@azure/identity';
import { ServiceBusClient } from '@azure/service-bus';
import type { Config } from '../config/config.js';

/** The database of the app. */
export function createDatabase(config: Config): Database {
  const { COSMOS_ENDPOINT: endpoint, COSMOS_KEY: key } = config;
  // One write region (T11): partition-level fail-over has nothing to choose from and costs CPU on each call.
  const connectionPolicy = { enablePartitionLevelFailover: false, enablePartitionLevelCircuitBreaker: false };
  const credentials = key === undefined ? { aadCredentials: credential(config) } : { key };
  return new CosmosClient({ endpoint, connectionPolicy, ...credentials }).database(config.COSMOS_DATABASE);
}

/** A Service Bus client of the app: short retries, because every caller has a deadline or a lock. */
export function createServiceBusClient(config: Config): ServiceBusClient {
  const options = { retryOptions: { maxRetries: 1, retryDelayInMs: 200, timeoutInMs: 5_000 } };
  const { ServiceBusConnection, ServiceBusConnection__fullyQualifiedNamespace: namespace } = config;
  return namespace === undefined
    ? new ServiceBusClient(ServiceBusConnection ?? '', options)
    : new ServiceBusClient(namespace, credential(config), options);
}

function credential(config: Config): ManagedIdentityCredential {
  const clientId = config.AZURE_CLIENT_ID;
  return clientId === undefined ? new ManagedIdentityCredential() : new ManagedIdentityCredential({ clientId });
}

/** The AMQP library leaves Nagle's algorithm on: a small send then waits 40 ms for an acknowledgement. Call it once. */
export function sendSmallFramesAtOnce(): void {
  diagnosticsChannel.subscribe('net.client.socket', (message) => {
    (message as { socket: Socket }).socket.setNoDelay(true);
  });
}
