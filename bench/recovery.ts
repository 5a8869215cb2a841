/**
 * What one look for expired attempts costs, by the number of live records of which none has expired: the scan by composite
 * index, and the optional recovery index. Request units are modelled.
 */
import { CosmosClient } from '@azure/cosmos';
import { createCosmosRecoveryIndex } from '../functions/azure/cosmos-recovery-index.js';
import { createCosmosStateStore } from '../functions/azure/cosmos-state-store.js';
import { addMs } from '../functions/contracts/timestamp.js';
import { newRecord } from '../functions/state/new-record.js';
import { workflows } from '../functions/state/order-workflow.js';
import type { StateRecord } from '../functions/state/state-record.js';
import { startStack } from '../local/stack.js';
import type { Stack } from '../local/stack.js';
import { benchOrder } from './bench-order.js';

const parallelCreates = 64;
const looks = 20;
const windowMs = 3_600_000;

/** Prints a row for each number of live records. */
export async function benchRecovery(steps: readonly number[]): Promise<void> {
  const stack = await startStack({ host: false });
  const client = new CosmosClient({ endpoint: stack.cosmosEndpoint, key: stack.cosmosKey });
  const database = client.database('order-processing');
  const store = createCosmosStateStore(database, {
    retentionDays: 365,
    unresolvedRetentionDays: 365,
    rememberedRecords: 1,
  });
  const index = createCosmosRecoveryIndex(database);
  let live = 0;
  try {
    for (const records of steps) {
      for (; live < records; live += parallelCreates) {
        await Promise.all(
          Array.from({ length: parallelCreates }, (_, lane) => store.createIfAbsent(liveRecord(live + lane))),
        );
      }
      const now = new Date().toISOString();
      const window = { completeBefore: now, completeFrom: addMs(now, -windowMs), pageSize: 100 };
      const scan = await measure(stack, () => drain(store.pageExpired({ state: 'Processing', ...window })));
      const hint = await measure(stack, () => drain(index.due(addMs(now, -60_000), now)));
      console.log(`${String(live).padStart(9)} live: scan ${scan}; recovery index, two minutes ${hint}`);
    }
  } finally {
    client.dispose();
    await stack.stop();
  }
}

async function drain(pages: AsyncIterable<unknown>): Promise<void> {
  const iterator = pages[Symbol.asyncIterator]();
  for (let next = await iterator.next(); next.done !== true; next = await iterator.next());
}

async function measure(stack: Stack, look: () => Promise<void>): Promise<string> {
  await look();
  const chargeBefore = await modelledCharge(stack);
  const beganAt = performance.now();
  for (let count = 0; count < looks; count += 1) await look();
  const ms = (performance.now() - beganAt) / looks;
  const charge = ((await modelledCharge(stack)) - chargeBefore) / looks;
  return `${ms.toFixed(1)} ms, ${charge.toFixed(1)} RU`;
}

async function modelledCharge(stack: Stack): Promise<number> {
  const counters = Object.entries(await stack.counters('cosmos-db'));
  return counters.reduce((sum, [name, count]) => (name.endsWith('/modelledRequestUnits') ? sum + count : sum), 0);
}

/** A running attempt whose deadline lies in the future. */
function liveRecord(number: number): StateRecord {
  const [workflow] = workflows;
  if (workflow === undefined) throw new Error('there is no workflow');
  const now = new Date().toISOString();
  const orderId = `live-${number}`;
  const input = { order: benchOrder(orderId), orderHash: '', workflow, maxAttempts: 3, orderLifetimeMs: windowMs };
  const record = newRecord({ ...input, traceparent: null }, now);
  const completeBy = addMs(now, 12 * windowMs + (number % 60_000));
  return { ...record, processState: 'Processing', attempt: 1, lockedBy: `${orderId}.1`, completeBy };
}
