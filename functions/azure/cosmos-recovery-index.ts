/**
 * The recovery index over the Cosmos DB container `recovery-index`: one item for each order and minute of a deadline,
 * partitioned by that minute and a shard, so that writes spread and a look at a minute asks few partitions (R108).
 */
import type { Container, Database } from '@azure/cosmos';
import { addMs } from '../contracts/timestamp.js';
import type { Timestamp } from '../contracts/timestamp.js';
import type { RecoveryIndex } from '../state/ports.js';
import { cosmosError } from './errors.js';

const shards = 4;
const minuteMs = 60_000;

/** Hints are of no use once the supervisor has looked; the store then drops them. */
const hintLifetimeSeconds = 86_400;

/** Creates the index. */
export function createCosmosRecoveryIndex(database: Database): RecoveryIndex {
  const container = database.container('recovery-index');
  return {
    note: async (orderId, completeBy) => {
      const hint = {
        id: orderId,
        bucket: bucketOf(completeBy, shardOf(orderId)),
        completeBy,
        ttl: hintLifetimeSeconds,
      };
      try {
        await container.items.upsert(hint);
      } catch (error) {
        throw cosmosError(error);
      }
    },
    due: (from, until) => dueOrders(container, from, until),
  };
}

async function* dueOrders(container: Container, from: Timestamp, until: Timestamp): AsyncGenerator<readonly string[]> {
  for (let minute = from; minute.slice(0, 16) <= until.slice(0, 16); minute = addMs(minute, minuteMs)) {
    for (let shard = 0; shard < shards; shard += 1) {
      const orderIds = await ordersOfBucket(container, bucketOf(minute, shard), until);
      if (orderIds.length > 0) yield orderIds;
    }
  }
}

async function ordersOfBucket(container: Container, bucket: string, until: Timestamp): Promise<readonly string[]> {
  const query = {
    query: 'SELECT VALUE c.id FROM c WHERE c.bucket = @bucket AND c.completeBy < @until',
    parameters: [
      { name: '@bucket', value: bucket },
      { name: '@until', value: until },
    ],
  };
  try {
    return (await container.items.query<string>(query, { partitionKey: bucket }).fetchAll()).resources;
  } catch (error) {
    throw cosmosError(error);
  }
}

function bucketOf(completeBy: Timestamp, shard: number): string {
  return `${completeBy.slice(0, 16)}/${shard}`;
}

/** Spreads orders over the shards; any even function of the id will do. */
function shardOf(orderId: string): number {
  return Array.from(orderId, (character) => character.charCodeAt(0)).reduce((sum, code) => sum + code, 0) % shards;
}
