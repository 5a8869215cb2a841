/**
 * A backlog that waited while the starter was stopped: how fast it drains beside a closed loop on the same stack, and how
 * many claims are wasted when several starters, each with its own memory of records, share it.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceBusClient } from '@azure/service-bus';
import { createCosmosStateStore } from '../functions/azure/cosmos-state-store.js';
import { createQueueSender } from '../functions/azure/service-bus-sender.js';
import { startPending } from '../functions/scheduler/start-pending.js';
import type { StarterDeps, StarterRun } from '../functions/scheduler/start-pending.js';
import { startStack } from '../local/stack.js';
import type { Stack } from '../local/stack.js';
import { startApplication } from './application.js';
import { runClosedLoop } from './closed-loop.js';
import { openRecords, until } from './order-records.js';
import type { OrderRecords } from './order-records.js';

const never = '0 0 0 1 1 *';
const hostKey = 'host-key-of-the-bench';
const closedLoop = { inFlight: 64, warmUpSeconds: 3 };
const sendersAtOnce = 64;

const settings: Readonly<Record<string, string>> = {
  INTAKE_HIGH_WATER: '1000000',
  INTAKE_LOW_WATER: '500000',
  MAX_IN_FLIGHT: '500',
  FunctionsHost__MasterKey: hostKey,
};

/** Prints drain efficiency with the app's own starter, then wasted claims with `starters` at once. */
export async function benchDrain(orders: number, starters: number, seconds: number): Promise<void> {
  const { closedRate, drainRate } = await drainByTheApp(orders, seconds);
  console.log(
    `closed loop at ${closedLoop.inFlight}: ${closedRate.toFixed(1)} orders/s; drain of ${orders}: ` +
      `${drainRate.toFixed(1)} orders/s; ratio ${(drainRate / closedRate).toFixed(2)} (target ≥ 0.9)`,
  );
  await drainByMany(Math.min(orders, 2_000), starters);
}

async function drainByTheApp(orders: number, seconds: number): Promise<{ closedRate: number; drainRate: number }> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'bench-drain-'));
  try {
    await withStack({ dataDirectory, settings: { ...settings, STARTER_SCHEDULE: never } }, (stack, records) =>
      submitBacklog(stack, records, orders),
    );
    return await withStack({ dataDirectory, settings }, async (stack, records) => {
      const drainRate = await drainRateOf(records, orders);
      const application = startApplication(stack.connectionString);
      await runClosedLoop(closedLoop.inFlight, closedLoop.warmUpSeconds, (number) =>
        application.process(`w-${number}`),
      );
      const loop = await runClosedLoop(closedLoop.inFlight, seconds, (number) => application.process(`c-${number}`));
      await application.close();
      return { closedRate: loop.done / loop.seconds, drainRate };
    });
  } finally {
    await rm(dataDirectory, { recursive: true, force: true });
  }
}

type StackOptions = NonNullable<Parameters<typeof startStack>[0]>;

async function withStack<T>(
  options: StackOptions,
  use: (stack: Stack, records: OrderRecords) => Promise<T>,
): Promise<T> {
  const stack = await startStack(options);
  const records = openRecords(stack);
  try {
    return await use(stack, records);
  } finally {
    records.client.dispose();
    await stack.stop();
  }
}

/** Resolves when every order is stored and none is started. */
async function submitBacklog(stack: Stack, records: OrderRecords, orders: number): Promise<void> {
  await records.throttleIntake();
  const application = startApplication(stack.connectionString);
  const beganAt = performance.now();
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < orders) {
      next += 1;
      await application.send(`d-${next}`);
    }
  };
  await Promise.all(Array.from({ length: sendersAtOnce }, lane));
  const doneAt = await until(async () => (await records.count('Pending')) >= orders, 500);
  await application.close();
  console.log(`${orders} orders stored in ${((doneAt - beganAt) / 1000).toFixed(1)} s, none started`);
}

/** Orders a second between the first tenth and the last order: the host warms up before. */
async function drainRateOf(records: OrderRecords, orders: number): Promise<number> {
  let first = 0;
  const beganAt = await until(async () => (first = await records.count('Processed')) >= orders / 10);
  const endedAt = await until(async () => (await records.count('Processed')) >= orders);
  return ((orders - first) * 1000) / (endedAt - beganAt);
}

/**
 * Starters as other instances of the app would run them, on the app's own task hub. They start everything at once, which
 * no deadline of a step would stand.
 */
async function drainByMany(orders: number, starters: number): Promise<void> {
  const patient = { ...settings, STARTER_SCHEDULE: never, STEP_DEADLINE_MS: '300000' };
  await withStack({ settings: patient }, async (stack, records) => {
    await submitBacklog(stack, records, orders);
    const clients = Array.from({ length: starters }, () => openRecords(stack));
    const bus = new ServiceBusClient(stack.connectionString);
    const runs: StarterRun[] = [];
    const isOver = async (): Promise<boolean> => (await records.count('Pending')) === 0;
    const lane = async (own: OrderRecords): Promise<void> => {
      const deps = depsOf(stack, own, bus);
      while (!(await isOver())) runs.push(await startPending(1_000, { ...deps, debt: { toNormal: 0 } }));
    };
    await Promise.all(clients.map(lane));
    for (const { client } of clients) client.dispose();
    await bus.close();
    const started = runs.reduce((sum, run) => sum + run.started, 0);
    const lost = runs.reduce((sum, run) => sum + run.lost, 0);
    const wasted = (100 * lost) / (started + lost);
    console.log(
      `${starters} starters, ${orders} orders: ${started} claims won, ${lost} lost, ${wasted.toFixed(1)} % wasted (target ≤ 10 %)`,
    );
  });
}

function depsOf(stack: Stack, { client }: OrderRecords, bus: ServiceBusClient): StarterDeps {
  return {
    store: createCosmosStateStore(client.database('order-processing'), {
      retentionDays: 365,
      unresolvedRetentionDays: 365,
    }),
    sender: createQueueSender(() => bus),
    orchestrations: orchestrationsOf(stack),
    random: Math.random,
    clock: { now: () => new Date().toISOString() },
    telemetry: { event: () => undefined, alert: () => undefined },
    policy: {
      claimLeaseMs: 60_000,
      releaseBackoffMs: 1_000,
      pageSize: 100,
      maxPerRun: 1_000,
      concurrency: 16,
      normalShare: 0.2,
    },
  };
}

function orchestrationsOf({ hostUrl }: Stack): StarterDeps['orchestrations'] {
  const address = `${hostUrl}/runtime/webhooks/durabletask`;
  const exists = async (instanceId: string): Promise<boolean> =>
    (await fetch(`${address}/instances/${instanceId}?code=${hostKey}`)).status !== 404;
  return {
    instanceState: async (instanceId) => ((await exists(instanceId)) ? 'underWay' : 'unknown'),
    start: async (instanceId, input) => {
      const { status } = await fetch(`${address}/orchestrators/orderOrchestrator/${instanceId}?code=${hostKey}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(input),
      });
      return status === 202 || (await exists(instanceId)) ? 'started' : 'refused';
    },
  };
}
