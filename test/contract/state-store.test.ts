import type { Database } from '@azure/cosmos';
import { createCosmosStateStore } from '../../functions/azure/cosmos-state-store.js';
import { cosmosTargets } from '../support/contract-targets.js';
import type { Opened } from '../support/contract-targets.js';
import { createMemoryStateDatabase, createMemoryStateStore } from '../support/memory-stores.js';
import { stateStoreContract } from './state-store-contract.js';
import type { StoreUnderTest } from './state-store-contract.js';

function inMemory(): Promise<StoreUnderTest> {
  const database = createMemoryStateDatabase();
  return Promise.resolve({
    newProcess: () => createMemoryStateStore(database),
    put: (document) => {
      database.put(document);
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
  });
}

async function overCosmos(open: () => Promise<Opened<Database>>): Promise<StoreUnderTest> {
  const { service, close } = await open();
  return {
    newProcess: () => createCosmosStateStore(service, { retentionDays: 120, unresolvedRetentionDays: 120 }),
    put: async (document) => {
      await service.container('order-state').items.create(document);
    },
    close,
  };
}

stateStoreContract('memory', inMemory);
for (const { name, open } of cosmosTargets()) stateStoreContract(name, () => overCosmos(open));
