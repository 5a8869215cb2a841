/** A small app on a stack of its own, for benches of the embedded parts. */
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { startStack, type Stack } from '../local/stack.js';

export const benchQueue = 'bench';
export const benchDatabase = 'bench';
export const benchContainer = 'items';

const topology = {
  serviceBus: { queues: [{ name: benchQueue, maxSizeInMegabytes: 5120, defaultMessageTimeToLive: 'P14D' }] },
  cosmosDb: { database: benchDatabase, containers: [{ name: benchContainer, partitionKey: '/id' }] },
};

const app = `
import { app } from '@azure/functions';
import * as df from 'durable-functions';
app.http('ping', { methods: ['GET'], authLevel: 'anonymous', handler: () => ({ body: 'pong' }) });
df.app.orchestration('waits', function* (context) {
  return yield context.df.waitForExternalEvent('go');
});
`;

/** Starts a stack with the app, lets `use` work with it, and removes both. */
export async function withBenchStack<T>(use: (stack: Stack) => Promise<T>): Promise<T> {
  const appDirectory = writeApp();
  try {
    const stack = await startStack({ appDirectory, topology });
    try {
      return await use(stack);
    } finally {
      await stack.stop();
    }
  } finally {
    rmSync(appDirectory, { recursive: true, force: true });
  }
}

function writeApp(): string {
  const directory = mkdtempSync(join(tmpdir(), 'bench-app-'));
  const durableFunctions = createRequire(import.meta.url).resolve('durable-functions/package.json');
  symlinkSync(dirname(dirname(durableFunctions)), join(directory, 'node_modules'));
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ type: 'module', main: 'app.js' }));
  writeFileSync(join(directory, 'app.js'), app);
  const settings = { Values: { FUNCTIONS_WORKER_RUNTIME: 'node' } };
  writeFileSync(join(directory, 'local.settings.sample.json'), JSON.stringify(settings));
  return directory;
}

/** Runs something so many times, some at once. */
export async function repeat(count: number, inFlight: number, run: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await run(index);
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
}
