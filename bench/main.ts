/**
 * `npm run bench -- [name] [options]`: figures of this machine, each beside its floor in the same run. Absolute figures
 * drift with the machine; compare ratios, counts and CPU per order.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startStack } from '../local/stack.js';
import { benchDetection } from './detection.js';
import { benchDrain } from './drain.js';
import { measureFloor } from './floor.js';
import { benchKill } from './kill.js';
import { benchRecovery } from './recovery.js';
import { benchSoak } from './soak.js';
import { benchStart } from './start.js';
import { measureThroughput } from './throughput.js';
import type { ThroughputRow } from './throughput.js';

const resultFile = 'test-results/bench.json';

const usage = `Usage: npm run bench -- [name] [options]
  app [--seconds N] [--in-flight 1,8,64]                orders a second and operations per order; the default
  local                                                 the embedded parts
  recovery                                              what a look for expired attempts costs
  drain [--orders N] [--starters N] [--seconds N]       a backlog that waited for the starter
  detection                                             how long an expired step stays unnoticed
  kill [--orders N]                                     recovery after the host has died
  soak [--minutes N]                                    memory under a steady load with retention
  start                                                 what the start of an instance costs
  --help`;

const { values, positionals } = readArguments();
if (values.help === true) {
  console.log(usage);
  process.exit(0);
}

const benches: Readonly<Record<string, () => Promise<void>>> = {
  app: benchApp,
  local: benchLocal,
  recovery: () => benchRecovery([1_000, 100_000, 1_000_000]),
  drain: () => benchDrain(Number(values.orders ?? 10_000), Number(values.starters), seconds),
  detection: benchDetection,
  kill: () => benchKill(Number(values.orders ?? 200)),
  soak: () => benchSoak(Number(values.minutes)),
  start: benchStart,
};

const [what = 'app', ...others] = positionals;
const seconds = Number(values.seconds);
const levels = values['in-flight'].split(',').map(Number);
const numbers = [seconds, ...levels, Number(values.orders ?? 1), Number(values.starters), Number(values.minutes)];

if (!Object.hasOwn(benches, what)) refuse(`there is no bench ${what}`);
if (others.length > 0) refuse(`one bench at a time, not also ${others.join(', ')}`);
if (numbers.some((value) => !(value > 0 && Number.isFinite(value)))) refuse('options take numbers above 0');

console.log(`Node ${process.version}, ${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown processor'}\n`);
await benches[what]?.();

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        seconds: { type: 'string', default: '20' },
        'in-flight': { type: 'string', default: '1,8,64' },
        orders: { type: 'string' },
        starters: { type: 'string', default: '4' },
        minutes: { type: 'string', default: '10' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

function refuse(reason: string): never {
  console.error(`${reason}\n\n${usage}`);
  process.exit(2);
}

async function benchApp(): Promise<void> {
  const rows: ThroughputRow[] = [];
  const floors: number[] = [];
  for (const inFlight of levels) {
    const stack = await startStack({ settings: { MAX_IN_FLIGHT: '1000' } });
    try {
      console.log(`${inFlight} in flight, ${seconds} s …`);
      const row = await measureThroughput(stack, inFlight, seconds);
      const floor = await measureFloor(stack, inFlight, Math.min(seconds, 10));
      rows.push(row);
      floors.push(floor.done / floor.seconds);
      printRow(row, floor.done / floor.seconds);
    } finally {
      await stack.stop();
    }
  }
  printCounts(rows.at(-1));
  mkdirSync('test-results', { recursive: true });
  writeFileSync(resultFile, JSON.stringify({ node: process.version, seconds, rows, floors }, null, 2));
  console.log(`\nAll figures: ${resultFile}`);
}

function printRow(row: ThroughputRow, floor: number): void {
  const rate = row.done / row.seconds;
  const byPart = Object.entries(row.cpuMsPerOrderByPart).map(([part, ms]) => `${part} ${ms.toFixed(1)}`);
  console.log(
    `  ${rate.toFixed(1)} orders/s (floor ${floor.toFixed(1)}, ratio ${(rate / floor).toFixed(2)}), ` +
      `p50 ${row.p50Ms.toFixed(1)} ms, p99 ${row.p99Ms.toFixed(1)} ms\n` +
      `  CPU ${row.cpuMsPerOrder.toFixed(1)} ms an order (${byPart.join(', ')}), peak ${row.peakMemoryMiB.toFixed(0)} MiB\n`,
  );
}

function printCounts(row: ThroughputRow | undefined): void {
  if (row === undefined) return;
  console.log(`Operations per order at ${row.inFlight} in flight (request units are modelled):`);
  for (const [name, count] of Object.entries(row.perOrder)) console.log(`  ${name.padEnd(60)} ${count.toFixed(2)}`);
}

/** Each part has a bench of its own beside its own floor, in a process of its own; two more look at sizes and memory. */
function benchLocal(): Promise<void> {
  for (const part of ['service-bus', 'cosmos-db', 'functions-host', 'scale', 'memory']) {
    console.log(`\n${part}`);
    spawnSync(process.execPath, [join(import.meta.dirname, `local-${part}.js`)], { stdio: 'inherit' });
  }
  return Promise.resolve();
}
