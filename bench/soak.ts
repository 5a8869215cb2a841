/**
 * A steady load for minutes: does memory level off? Finished orders are removed soon after, as retention would in the long
 * run, because what the embedded parts store they hold in memory.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { CosmosClient } from '@azure/cosmos';
import { orchestrationInstanceId } from '../functions/contracts/identifiers.js';
import { ledgerEntryId } from '../functions/demo/ledger.js';
import { startStack } from '../local/stack.js';
import type { PartName, Stack } from '../local/stack.js';
import { startApplication } from './application.js';
import { runClosedLoop } from './closed-loop.js';
import { heapInUseMiB } from './heap-in-use.js';
import { usageOf } from './process-usage.js';

const inFlight = 8;
const samples = 20;
const parts: readonly PartName[] = ['service-bus', 'cosmos-db', 'functions-host'];
const hostKey = 'host-key-of-the-bench';
const remoteServices = ['payment', 'inventory', 'shipping'] as const;

/** So many finished orders stay: none is removed while the app still writes its last change. */
const keptOrders = 500;

/** Prints heap in use and resident memory twenty times in `minutes`, and how the heap grew over the second half. */
export async function benchSoak(minutes: number): Promise<void> {
  const stack = await startStack({ settings: { FunctionsHost__MasterKey: hostKey } });
  const application = startApplication(stack.connectionString);
  const retention = startRetention(stack);
  let done = 0;
  const memory: number[][] = [];
  const orders: number[] = [];
  try {
    const load = runClosedLoop(inFlight, minutes * 60, async (number) => {
      await application.process(`s-${number}`);
      done += 1;
      if (number > keptOrders) await retention.remove(`s-${number - keptOrders}`);
    });
    for (let sample = 1; sample <= samples; sample += 1) {
      await delay((minutes * 60_000) / samples);
      const heap: number[] = [];
      for (const part of parts) heap.push(await heapInUseMiB(stack.pid(part)));
      memory.push(heap);
      orders.push(done);
      console.log(`${((sample * minutes) / samples).toFixed(1)} min: ${done} orders; ${inMiB(stack, heap)}`);
    }
    await load;
    printGrowth(memory, orders);
  } finally {
    retention.close();
    await application.close();
    await stack.stop();
  }
}

/** Removes all that is stored of an order: order, record, what the remote services noted, the Durable instance. */
function startRetention(stack: Stack): { remove(orderId: string): Promise<void>; close(): void } {
  const client = new CosmosClient({ endpoint: stack.cosmosEndpoint, key: stack.cosmosKey });
  const database = client.database('order-processing');
  return {
    remove: async (orderId) => {
      const ledger = database.container('demo-ledger');
      const instance = `${stack.hostUrl}/runtime/webhooks/durabletask/instances/${orchestrationInstanceId(orderId, 1)}?code=${hostKey}`;
      await Promise.all([
        ...['orders', 'order-state'].map((name) => database.container(name).item(orderId, orderId).delete()),
        ...remoteServices.map((service) => ledger.item(ledgerEntryId(orderId, service), orderId).delete()),
        fetch(instance, { method: 'DELETE' }).then((answer) => answer.arrayBuffer()),
      ]);
    },
    close: () => {
      client.dispose();
    },
  };
}

/** Mean of the last quarter beside that of the third: what still grows after half of the time. */
function printGrowth(memory: readonly (readonly number[])[], orders: readonly number[]): void {
  const quarter = samples / 4;
  const mean = (from: number, part: number): number =>
    memory.slice(from, from + quarter).reduce((sum, row) => sum + (row[part] ?? NaN), 0) / quarter;
  const ordersBetween = (orders.at(-1) ?? NaN) - (orders.at(-1 - quarter) ?? NaN);
  const growth = parts.map((part, index) => {
    const grown = mean(3 * quarter, index) - mean(2 * quarter, index);
    return `${part} ${grown.toFixed(1)} MiB (${((grown * 1024) / ordersBetween).toFixed(2)} KiB an order)`;
  });
  console.log(`heap in use, from the third to the last quarter: ${growth.join(', ')}`);
}

function inMiB(stack: Stack, heap: readonly number[]): string {
  const resident = (part: PartName): string => usageOf(stack.pid(part))?.memoryMiB.toFixed(0) ?? '?';
  return parts.map((part, index) => `${part} ${heap[index]?.toFixed(1) ?? '?'} of ${resident(part)} MiB`).join(', ');
}
