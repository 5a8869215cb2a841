/**
 * How long an expired step stays unnoticed: from its `completeBy` to the failure on the record. With a living orchestrator
 * its timer hints the supervisor; without one only the supervisor's own interval brings it up.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { startStack } from '../local/stack.js';
import type { Stack } from '../local/stack.js';
import { startApplication } from './application.js';
import { startBenchRemote } from './bench-remote.js';
import { openRecords, until } from './order-records.js';
import type { OrderRecords } from './order-records.js';

const orders = 20;
const intervalSeconds = 5;
const stepDeadlineMs = 8_000;
const settings: Readonly<Record<string, string>> = {
  STEP_DEADLINE_MS: String(stepDeadlineMs),
  SUPERVISOR_SCHEDULE: `*/${intervalSeconds} * * * * *`,
  RETRY_BACKOFF_MS: '60000',
  BREAKER_FAILURES: '1000',
};

/** Prints the latency with the orchestrator alive, then dead. */
export async function benchDetection(): Promise<void> {
  const alive = await measure('alive', () => Promise.resolve());
  console.log(`orchestrator alive: ${alive} (target: within 1000 ms)`);
  const dead = await measure('dead', async (stack) => {
    await stack.setFaults('functions-host', { seed: 1, rules: [{ operation: 'turn', action: 'pause' }] });
  });
  console.log(
    `orchestrator dead, interval ${intervalSeconds} s: ${dead} (target: within ${intervalSeconds * 1000 + 1000} ms)`,
  );
}

async function measure(name: string, disturb: (stack: Stack) => Promise<void>): Promise<string> {
  const remote = await startBenchRemote();
  const stack = await startStack({ settings: { ...settings, ...remote.settings } });
  const application = startApplication(stack.connectionString);
  const records = openRecords(stack);
  try {
    await application.process(`${name}-warm`);
    remote.takes(undefined);
    const ids = Array.from({ length: orders }, (_, number) => `${name}-${number}`);
    for (const id of ids) {
      await application.send(id);
      await delay((intervalSeconds * 1000) / orders); // The deadlines fall into all phases of the interval.
    }
    const dues = await Promise.all(ids.map((id) => dueOf(records, id)));
    await disturb(stack);
    const latencies = await Promise.all(
      ids.map(async (id, index) => (await noticedAt(records, id)) - (dues[index] ?? 0)),
    );
    latencies.sort((a, b) => a - b);
    const at = (share: number): string => `${(latencies[Math.ceil(share * orders) - 1] ?? NaN).toFixed(0)} ms`;
    return `${orders} expired steps noticed after p50 ${at(0.5)}, longest ${at(1)}`;
  } finally {
    records.client.dispose();
    await application.close();
    await stack.stop();
    await remote.close();
  }
}

/** When the step of an order is due, once it runs. */
async function dueOf(records: OrderRecords, orderId: string): Promise<number> {
  let due: number | undefined;
  await until(async () => (due = await runningStepDue(records, orderId)) !== undefined);
  return due ?? NaN;
}

async function runningStepDue(records: OrderRecords, orderId: string): Promise<number | undefined> {
  const steps = ((await records.read(orderId, 'steps')) ?? []) as readonly { state: string; completeBy: string }[];
  const running = steps.find(({ state }) => state === 'Running');
  return running === undefined ? undefined : Date.parse(running.completeBy);
}

/** When the failure was written, by the record's own clock. */
async function noticedAt(records: OrderRecords, orderId: string): Promise<number> {
  await until(async () => ((await records.read(orderId, 'failureCount')) as number) > 0);
  return Date.parse(String(await records.read(orderId, 'updatedAt')));
}
