/** `npm run local -- --emulators`: the app on Microsoft's emulators, which compose.yaml starts. */
import { join } from 'node:path';
import {
  emulatorSettings,
  prepareEmulators,
  serviceBusConfigFile,
  writeServiceBusConfig,
} from '../infra/emulators/index.js';
import { readJsonFile } from './project.js';
import type { StackOptions } from './stack.js';

/** Writes their configuration, says what they do differently, waits until they are ready, and tells where they are. */
export async function useEmulators(root: string): Promise<NonNullable<StackOptions['external']>> {
  const topology = readJsonFile(join(root, 'infra', 'topology.json'), 'the topology');
  const differences = await writeServiceBusConfig(topology, join(root, serviceBusConfigFile));
  for (const difference of differences) console.log(`The Service Bus emulator differs from Azure: ${difference}`);
  console.log('Waiting for the emulators (docker compose up --detach --wait starts them) …');
  await prepareEmulators(topology);
  const {
    ServiceBusConnection: connectionString,
    COSMOS_ENDPOINT: cosmosEndpoint,
    COSMOS_KEY: cosmosKey,
  } = emulatorSettings;
  return { connectionString, cosmosEndpoint, cosmosKey };
}
