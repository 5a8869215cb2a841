import type { Database } from '@azure/cosmos';
import { createCosmosOrdersDatabase } from '../../functions/azure/cosmos-orders-database.js';
import { cosmosTargets } from '../support/contract-targets.js';
import type { Opened } from '../support/contract-targets.js';
import { createMemoryOrdersDatabase } from '../support/memory-stores.js';
import { ordersDatabaseContract } from './orders-database-contract.js';
import type { OrdersUnderTest } from './orders-database-contract.js';

function inMemory(): Promise<OrdersUnderTest> {
  const orders = createMemoryOrdersDatabase();
  return Promise.resolve({ newProcess: () => orders, close: () => Promise.resolve() });
}

async function overCosmos(open: () => Promise<Opened<Database>>): Promise<OrdersUnderTest> {
  const { service, close } = await open();
  return { newProcess: () => createCosmosOrdersDatabase(service, { retentionDays: 400 }), close };
}

ordersDatabaseContract('memory', inMemory);
for (const { name, open } of cosmosTargets()) ordersDatabaseContract(name, () => overCosmos(open));
