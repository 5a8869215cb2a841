/** Makes the containers of the topology in a Cosmos DB emulator and checks that it keeps the one promise the app rests on. */
import { CosmosClient } from '@azure/cosmos';
import type { Container } from '@azure/cosmos';
import type { Topology } from './topology.js';

/** Where an emulator listens. */
export interface CosmosEmulator {
  readonly endpoint: string;
  readonly key: string;
}

/** Creates what is missing; in Azure only Bicep does that. */
export async function createContainers(emulator: CosmosEmulator, topology: Topology): Promise<void> {
  // The emulator answers with an address of its own, which need not be reachable from here.
  const client = new CosmosClient({ ...emulator, connectionPolicy: { enableEndpointDiscovery: false } });
  try {
    const { database } = await client.databases.createIfNotExists({ id: topology.cosmosDb.database });
    for (const { name, partitionKey, defaultTtl, indexingPolicy } of topology.cosmosDb.containers) {
      const { container } = await database.containers.createIfNotExists({
        id: name,
        partitionKey: { paths: [partitionKey] },
        indexingPolicy: indexingPolicy,
        ...(defaultTtl === undefined ? {} : { defaultTtl }),
      });
      if (partitionKey === '/id') await checkConditionalWrite(container);
    }
  } finally {
    client.dispose();
  }
}

/**
 * Every claim is a replace that must fail when somebody else was faster.
 *
 * @throws Error when the emulator lets a stale write through: no test against it would prove anything
 */
async function checkConditionalWrite(container: Container): Promise<void> {
  const id = 'conditional-write-check';
  const { etag: stale } = await container.items.upsert({ id, turn: 1 });
  await container.items.upsert({ id, turn: 2 });
  const isRefused = await container
    .item(id, id)
    .replace({ id, turn: 3 }, { accessCondition: { type: 'IfMatch', condition: stale } })
    .then(() => false)
    .catch((error: unknown) => (error as { code?: unknown }).code === 412);
  await container.item(id, id).delete();
  if (!isRefused) {
    throw new Error(
      `The Cosmos DB emulator let a stale conditional write to ${container.id} through. Use another version of it, or the embedded one ("npm run local").`,
    );
  }
}
