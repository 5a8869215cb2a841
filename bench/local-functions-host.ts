/**
 * The embedded Functions host beside its floor, a bare loop of the same activity calls and journal appends, in the same run.
 * Orchestrations are started and told their events over HTTP, as the durable client does; the floor has no HTTP.
 *
 *   node dist/bench/local-functions-host.js
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startFunctionsHost, type FunctionsHost } from '../local/functions-host/index.js';
import { openJournal } from '../local/journal/index.js';

/** What the bench found for one kind of orchestration at one load. */
export interface FunctionsHostFigures {
  readonly kind: OrchestrationKind;
  readonly inFlight: number;
  readonly orchestrationsPerSecond: number;
  /** The bare loop at the same load. */
  readonly floorPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of the one process that runs host, app and the bench's HTTP client. */
  readonly cpuMsPerOrchestration: number;
}

/** How long the bench runs. */
export interface FunctionsHostBenchOptions {
  readonly orchestrations: number;
  readonly inFlight: readonly number[];
  readonly fsync: 'never' | 'always';
}

type OrchestrationKind = keyof typeof appendsOf;

/** Appends that the host makes one after the other for an orchestration: start, turns, results, events. */
const appendsOf = { 'three-activities': 8, 'event-race': 4 } as const;
const activitiesOf = { 'three-activities': 3, 'event-race': 0 } as const;
const kinds = Object.keys(appendsOf) as OrchestrationKind[];
const record = Buffer.alloc(300, 'x');

const app = `
import * as df from 'durable-functions';
df.app.activity('greet', { handler: ({ city }) => 'Hello, ' + city });
df.app.orchestration('three-activities', function* (context) {
  const greetings = [];
  for (const city of ['Tokyo', 'Seattle', 'London']) greetings.push(yield context.df.callActivity('greet', { city }));
  return greetings;
});
df.app.orchestration('event-race', function* (context) {
  const timer = context.df.createTimer(new Date(context.df.currentUtcDateTime.getTime() + 3600000));
  const reply = context.df.waitForExternalEvent('reply');
  yield context.df.Task.any([reply, timer]);
  timer.cancel();
  return reply.result;
});
`;

/** Measures the host and its floor in a process of their own. */
export async function benchFunctionsHost(options: FunctionsHostBenchOptions): Promise<FunctionsHostFigures[]> {
  const execArgv = ['--max-semi-space-size=64']; // As the stack starts its parts.
  const child = fork(fileURLToPath(import.meta.url), [JSON.stringify(options)], { execArgv });
  const [figures] = (await once(child, 'message')) as [FunctionsHostFigures[]];
  return figures;
}

async function measureAll(options: FunctionsHostBenchOptions): Promise<FunctionsHostFigures[]> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-functions-host-'));
  try {
    const host = await startFunctionsHost({
      appDirectory: writeApp(directory),
      dataDirectory: join(directory, 'data'),
      fsync: options.fsync,
      settings: {},
    });
    const figures: FunctionsHostFigures[] = [];
    for (const kind of kinds) {
      await measure(host, { kind, inFlight: 64, count: options.orchestrations / 2 });
      for (const inFlight of options.inFlight) {
        const count = Math.ceil(inFlight === 1 ? options.orchestrations / 4 : options.orchestrations);
        const floorPerSecond = await measureFloor(join(directory, `floor-${kind}-${inFlight}`), options, {
          kind,
          inFlight,
          count,
        });
        figures.push({ kind, inFlight, floorPerSecond, ...(await measure(host, { kind, inFlight, count })) });
      }
    }
    await host.close();
    return figures;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function writeApp(directory: string): string {
  const durableFunctions = createRequire(import.meta.url).resolve('durable-functions/package.json');
  symlinkSync(dirname(dirname(durableFunctions)), join(directory, 'node_modules'));
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ type: 'module', main: 'app.js' }));
  writeFileSync(join(directory, 'app.js'), app);
  return directory;
}

interface Load {
  readonly kind: OrchestrationKind;
  readonly inFlight: number;
  readonly count: number;
}

let runs = 0;

async function measure(
  host: FunctionsHost,
  { kind, inFlight, count }: Load,
): Promise<Omit<FunctionsHostFigures, 'kind' | 'inFlight' | 'floorPerSecond'>> {
  const post = createClient(host.url);
  const before = completed(host);
  const cpuBefore = process.cpuUsage();
  const start = performance.now();
  const startTimes: number[] = [];
  const latencies: number[] = [];
  runs += 1;
  while (latencies.length < count) {
    while (startTimes.length < count && startTimes.length - latencies.length < inFlight) {
      const instanceId = `${kind}-${runs}-${startTimes.length}`;
      startTimes.push(performance.now());
      void drive(post, kind, instanceId);
    }
    await nextTurn();
    // Who finished is not known, only how many: the oldest are taken for the finished ones.
    while (latencies.length < completed(host) - before) {
      latencies.push(performance.now() - (startTimes[latencies.length] ?? 0));
    }
  }
  const seconds = (performance.now() - start) / 1000;
  const cpu = process.cpuUsage(cpuBefore);
  latencies.sort((one, other) => one - other);
  const at = (share: number): number => latencies[Math.floor(share * latencies.length)] ?? Number.NaN;
  return {
    orchestrationsPerSecond: count / seconds,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    cpuMsPerOrchestration: (cpu.user + cpu.system) / 1000 / count,
  };
}

type Post = (path: string, body: string) => Promise<void>;

async function drive(post: Post, kind: OrchestrationKind, instanceId: string): Promise<void> {
  await post(`/durabletask/orchestrators/${kind}/${instanceId}`, '{}');
  if (kind === 'event-race') await post(`/durabletask/instances/${instanceId}/raiseEvent/reply`, '{"ok":true}');
}

function completed(host: FunctionsHost): number {
  return host.counters()['orchestrations.completed'] ?? 0;
}

function createClient(url: string): Post {
  const agent = new Agent({ keepAlive: true });
  const headers = { 'content-type': 'application/json' };
  return (path, body) =>
    new Promise((resolve, reject) => {
      const call = request(`${url}${path}`, { method: 'POST', agent, headers }, (response) => {
        response.resume().on('end', resolve);
      });
      call.on('error', reject).end(body);
    });
}

async function measureFloor(
  directory: string,
  { fsync }: FunctionsHostBenchOptions,
  { kind, inFlight, count }: Load,
): Promise<number> {
  const journal = await openJournal({ directory, fsync, replay: () => undefined, snapshot: () => [] });
  const greet = (city: string): Promise<string> => Promise.resolve(`Hello, ${city}`);
  let left = count;
  const lane = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      for (let append = 0; append < appendsOf[kind]; append += 1) {
        if (append < activitiesOf[kind]) await greet('Tokyo');
        await journal.append(record);
      }
    }
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: inFlight }, lane));
  const perSecond = (count * 1000) / (performance.now() - start);
  await journal.close();
  return perSecond;
}

if (process.send !== undefined && process.argv[1] === fileURLToPath(import.meta.url)) {
  process.send(await measureAll(JSON.parse(process.argv[2] ?? '{}') as FunctionsHostBenchOptions));
  process.disconnect();
} else if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const figures = await benchFunctionsHost({ orchestrations: 4000, inFlight: [1, 8, 64], fsync: 'never' });
  for (const { kind, inFlight, ...figure } of figures) {
    console.log(
      `${kind.padEnd(17)} ${String(inFlight).padStart(2)} in flight: ${figure.orchestrationsPerSecond.toFixed(0)}/s ` +
        `(floor ${figure.floorPerSecond.toFixed(0)}/s, ratio ${(figure.orchestrationsPerSecond / figure.floorPerSecond).toFixed(2)}), ` +
        `p50 ${figure.p50Ms.toFixed(2)} ms, p99 ${figure.p99Ms.toFixed(2)} ms, CPU ${figure.cpuMsPerOrchestration.toFixed(2)} ms`,
    );
  }
}
