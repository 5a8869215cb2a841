/** The official emulators of compose.yaml: their configuration, their readiness, and the settings that point the app at them. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createContainers } from './cosmos-db.js';
import { waitUntilHealthy } from './health.js';
import { serviceBusEmulatorConfig } from './service-bus-config.js';
import { topologySchema } from './topology.js';

/** Where compose.yaml expects the Service Bus emulator's file, from the project's root. */
export const serviceBusConfigFile = '.local/emulators/Config.json';

/** The settings of the app that differ from local.settings.sample.json. The keys are the emulators' public ones. */
export const emulatorSettings = {
  AzureWebJobsStorage: 'UseDevelopmentStorage=true',
  ServiceBusConnection:
    'Endpoint=sb://127.0.0.1;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true',
  COSMOS_ENDPOINT: 'http://127.0.0.1:8081/',
  COSMOS_KEY: 'C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==',
} as const;

/** Writes the Service Bus emulator's file; the answer says, one line each, how it differs from what Azure gets. */
export async function writeServiceBusConfig(topology: unknown, file: string): Promise<readonly string[]> {
  const { config, differences } = serviceBusEmulatorConfig(topologySchema.parse(topology));
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(config, null, 2)}\n`);
  return differences;
}

/** Where the emulators tell that they are ready. */
export interface EmulatorAddresses {
  readonly serviceBusHealth: string;
  readonly cosmosDbHealth: string;
  readonly cosmosDb: { readonly endpoint: string; readonly key: string };
}

/** The ports of compose.yaml. */
export const composeAddresses: EmulatorAddresses = {
  serviceBusHealth: 'http://127.0.0.1:5300/health',
  cosmosDbHealth: 'http://127.0.0.1:8080/ready',
  cosmosDb: { endpoint: emulatorSettings.COSMOS_ENDPOINT, key: emulatorSettings.COSMOS_KEY },
};

/** Waits until the emulators are ready, makes the containers and checks that stale writes are refused. */
export async function prepareEmulators(
  topology: unknown,
  addresses: EmulatorAddresses = composeAddresses,
  timeoutMs = 120_000,
): Promise<void> {
  await waitUntilHealthy('The Service Bus emulator', addresses.serviceBusHealth, timeoutMs);
  await waitUntilHealthy('The Cosmos DB emulator', addresses.cosmosDbHealth, timeoutMs);
  await createContainers(addresses.cosmosDb, topologySchema.parse(topology));
}
