/** Looking at the state records from outside, and waiting until they are as they should be. */
import { setTimeout as delay } from 'node:timers/promises';
import { CosmosClient } from '@azure/cosmos';
import type { ProcessState } from '../functions/state/state-record.js';
import type { Stack } from '../local/stack.js';

/** What the bench asks the state store. */
export interface OrderRecords {
  readonly client: CosmosClient;
  count(state: ProcessState): Promise<number>;
  /** Field of one record. */
  read(orderId: string, field: string): Promise<unknown>;
  /** Lets submit store orders and leave their start to the starter. */
  throttleIntake(): Promise<void>;
}

/** Connects to a stack's Cosmos DB. */
export function openRecords(stack: Stack): OrderRecords {
  const client = new CosmosClient({ endpoint: stack.cosmosEndpoint, key: stack.cosmosKey });
  const database = client.database('order-processing');
  const records = database.container('order-state');
  return {
    client,
    count: async (state) => {
      const query = 'SELECT VALUE COUNT(1) FROM c WHERE c.processState = @state';
      const parameters = [{ name: '@state', value: state }];
      const { resources } = await records.items.query<number>({ query, parameters }).fetchAll();
      return resources[0] ?? 0;
    },
    read: async (orderId, field) => {
      const { resource } = await records.item(orderId, orderId).read<Record<string, unknown>>();
      return resource?.[field];
    },
    throttleIntake: async () => {
      const admission = { id: 'admission', mode: 'throttled', pending: 0, inFlight: 0, at: new Date().toISOString() };
      await database.container('control').items.upsert(admission);
    },
  };
}

/** Waits until something holds, looking every so often; answers when it did, as `performance.now()`. */
export async function until(holds: () => Promise<boolean> | boolean, everyMs = 100): Promise<number> {
  while (!(await holds())) await delay(everyMs);
  return performance.now();
}
