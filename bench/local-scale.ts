/**
 * Start-up time and memory of the broker with many queued messages and of the Functions host with many running instances.
 * (Cosmos DB with many documents: local-cosmos-db.ts.)
 *
 *   node dist/bench/local-scale.js [messages] [instances]
 */
import { ServiceBusClient } from '@azure/service-bus';
import type { PartName } from '../local/part-protocol.js';
import type { Stack } from '../local/stack.js';
import { benchQueue, repeat, withBenchStack } from './local-app.js';
import { usageOf } from './process-usage.js';

const [messages = 1_000_000, instances = 10_000] = process.argv.slice(2).map(Number);
const batchSize = 1000;

await withBenchStack(async (stack) => {
  const rows: object[] = [];
  for (const part of ['service-bus', 'functions-host'] as const) rows.push(await restartOf(stack, part, 'empty'));
  await queueMessages(stack);
  rows.push(await restartOf(stack, 'service-bus', `${messages} queued messages of 100 bytes`));
  await startInstances(stack);
  rows.push(await restartOf(stack, 'functions-host', `${instances} instances that wait for an event`));
  console.table(rows);
});

async function restartOf(stack: Stack, part: PartName, holds: string): Promise<object> {
  await stack.kill(part);
  const start = performance.now();
  await stack.restart(part);
  const seconds = (performance.now() - start) / 1000;
  const memory = usageOf(stack.pid(part))?.memoryMiB ?? NaN;
  return { part, holds, 'start s': Number(seconds.toFixed(2)), 'memory MiB': Math.round(memory) };
}

async function queueMessages({ connectionString }: Stack): Promise<void> {
  const client = new ServiceBusClient(connectionString);
  const sender = client.createSender(benchQueue);
  const body = Buffer.alloc(100);
  await repeat(messages / batchSize, 4, () => sender.sendMessages(Array.from({ length: batchSize }, () => ({ body }))));
  await client.close();
}

async function startInstances({ hostUrl }: Stack): Promise<void> {
  await repeat(instances, 32, async (index) => {
    const url = `${hostUrl}/durabletask/orchestrators/waits/instance-${index}`;
    const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
    await answer.text();
    if (answer.status !== 202) throw new Error(`The start of instance ${index} was answered ${answer.status}.`);
  });
}
