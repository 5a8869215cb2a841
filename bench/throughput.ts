/** Orders through the whole system on the embedded stack: rate, latency, CPU, memory and operations per order. */
import type { PartName, Stack } from '../local/stack.js';
import { startApplication } from './application.js';
import type { BenchApplication } from './application.js';
import { runClosedLoop } from './closed-loop.js';
import type { LoopResult } from './closed-loop.js';
import { usageOf } from './process-usage.js';

/** One row of the table. */
export interface ThroughputRow extends LoopResult {
  readonly inFlight: number;
  /** CPU of all processes: the three parts and the application of the bench. */
  readonly cpuMsPerOrder: number;
  readonly cpuMsPerOrderByPart: Readonly<Record<string, number>>;
  readonly peakMemoryMiB: number;
  readonly perOrder: Readonly<Record<string, number>>;
}

const parts: readonly PartName[] = ['service-bus', 'cosmos-db', 'functions-host'];

type Sample = Readonly<Record<string, number>>;

/** Measures one load level. */
export async function measureThroughput(stack: Stack, inFlight: number, seconds: number): Promise<ThroughputRow> {
  const application = startApplication(stack.connectionString);
  await warmUp(application, inFlight);
  const [cpuBefore, countsBefore] = [cpuSample(stack), await countersOf(stack)];
  const loop = await runClosedLoop(inFlight, seconds, (number) => application.process(`b${inFlight}-${number}`));
  const [cpuAfter, countsAfter] = [cpuSample(stack), await countersOf(stack)];
  await application.close();
  const cpu = perOrder(cpuBefore, cpuAfter, loop.done);
  return {
    ...loop,
    inFlight,
    cpuMsPerOrder: Object.values(cpu).reduce((sum, ms) => sum + ms, 0),
    cpuMsPerOrderByPart: cpu,
    peakMemoryMiB: parts.reduce((sum, part) => sum + (usageOf(stack.pid(part))?.peakMemoryMiB ?? Number.NaN), 0),
    perOrder: perOrder(countsBefore, countsAfter, loop.done),
  };
}

/** The first orders load modules, open links and let the compiler warm up. */
async function warmUp(application: BenchApplication, inFlight: number): Promise<void> {
  await runClosedLoop(Math.max(8, inFlight), 3, (number) => application.process(`w${inFlight}-${number}`));
}

function cpuSample(stack: Stack): Sample {
  const { user, system } = process.cpuUsage();
  const ofParts = parts.map((part) => [part, usageOf(stack.pid(part))?.cpuMs ?? Number.NaN] as const);
  return Object.fromEntries([...ofParts, ['application', (user + system) / 1000]]);
}

async function countersOf(stack: Stack): Promise<Sample> {
  const all = await Promise.all(parts.map(async (part) => [part, await stack.counters(part)] as const));
  return Object.fromEntries(
    all.flatMap(([part, counters]) => Object.entries(counters).map(([name, count]) => [`${part}/${name}`, count])),
  );
}

function perOrder(before: Sample, after: Sample, orders: number): Record<string, number> {
  const entries = Object.entries(after).map(([name, count]) => [name, (count - (before[name] ?? 0)) / orders] as const);
  return Object.fromEntries(entries.filter(([, count]) => count > 0.001));
}
