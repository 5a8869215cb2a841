/**
 * Memory of each embedded part while messages and requests pass through it: after a tenth of them it no longer grows.
 *
 *   node dist/bench/local-memory.js [operations]
 */
import { CosmosClient } from '@azure/cosmos';
import { ServiceBusClient } from '@azure/service-bus';
import type { PartName } from '../local/part-protocol.js';
import type { Stack } from '../local/stack.js';
import { benchContainer, benchDatabase, benchQueue, repeat, withBenchStack } from './local-app.js';
import { usageOf } from './process-usage.js';

const [operations = 100_000] = process.argv.slice(2).map(Number);
const looks = 10;
const batchSize = 500;

/** Passes so many operations through a part. */
type Traffic = (count: number) => Promise<void>;

await withBenchStack(async (stack) => {
  await watch(stack, 'service-bus', messagesThrough(stack));
  await watch(stack, 'cosmos-db', itemsThrough(stack));
  await watch(stack, 'functions-host', requestsThrough(stack));
});
process.exit(0); // The clients keep connections open.

async function watch(stack: Stack, part: PartName, pass: Traffic): Promise<void> {
  const memory: number[] = [];
  for (let look = 0; look < looks; look += 1) {
    await pass(operations / looks);
    memory.push(Math.round(usageOf(stack.pid(part))?.memoryMiB ?? NaN));
  }
  console.log(`${part}: MiB after each tenth of ${operations} operations: ${memory.join(' ')}`);
}

function messagesThrough({ connectionString }: Stack): Traffic {
  const client = new ServiceBusClient(connectionString);
  const sender = client.createSender(benchQueue);
  const receiver = client.createReceiver(benchQueue, { receiveMode: 'receiveAndDelete' });
  const batch = Array.from({ length: batchSize }, () => ({ body: Buffer.alloc(200) }));
  return async (count) => {
    for (let passed = 0; passed < count; passed += batchSize) {
      await sender.sendMessages(batch);
      for (let left = batchSize; left > 0;) left -= (await receiver.receiveMessages(left)).length;
    }
  };
}

/** Every other request is one that is refused. */
function itemsThrough({ cosmosEndpoint, cosmosKey }: Stack): Traffic {
  const client = new CosmosClient({ endpoint: cosmosEndpoint, key: cosmosKey });
  const items = client.database(benchDatabase).container(benchContainer);
  return async (count) => {
    await repeat(count / 2, 16, async (index) => {
      const id = `item-${index % 100}`;
      await items.items.upsert({ id, filler: 'x'.repeat(600) });
      await items.items.create({ id }).catch(() => undefined);
    });
  };
}

/** Every other request finds nothing. */
function requestsThrough({ hostUrl }: Stack): Traffic {
  return async (count) => {
    await repeat(count / 2, 16, async () => {
      for (const path of ['ping', 'nowhere']) await (await fetch(`${hostUrl}/api/${path}`)).text();
    });
  };
}
