/** Azurite from npm, for `func start`: Durable Functions and timers keep their state in Azure Storage. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lockDirectory, ownDirectory } from './journal/index.js';

/** The ports that `UseDevelopmentStorage=true` stands for. */
const services = [
  { name: 'blob', port: 10_000 },
  { name: 'queue', port: 10_001 },
  { name: 'table', port: 10_002 },
] as const;
const startLimitMs = 30_000;
const pollMs = 100;

/** A storage emulator that answers on all three ports. */
export interface Azurite {
  /** Whether it ran before and stays. */
  readonly isForeign: boolean;
  stop(): Promise<void>;
}

/** Starts Azurite, or uses one that runs already. A service that is missing is named. */
export async function startAzurite(root: string, dataDirectory: string): Promise<Azurite> {
  const missing = await missingServices();
  if (missing.length === 0) return { isForeign: true, stop: () => Promise.resolve() };
  if (missing.length < services.length) {
    throw new Error(
      `Azurite runs only in part: nothing listens for ${missing.join(', ')}. ` +
        'Start it with all of blob, queue and table, or stop whatever holds the other ports.',
    );
  }
  const location = join(dataDirectory, 'azurite');
  ownDirectory(location);
  const child = launch(root, location);
  // It has a process group of its own: a stack that ends in an error must not leave it behind.
  process.once('exit', () => child.kill());
  try {
    // In its own name, because it can outlive this process.
    const release = lockDirectory(location, child.pid);
    await untilComplete(child);
    return { isForeign: false, stop: () => end(child).then(release) };
  } catch (error) {
    await end(child);
    throw error;
  }
}

function launch(root: string, location: string): ChildProcess {
  const script = join(root, 'node_modules', 'azurite', 'dist', 'src', 'azurite.js');
  if (!existsSync(script)) throw new Error(`${script} is missing. Install the packages first: npm ci`);
  // Newer storage extensions ask for API versions that this Azurite does not know yet, and work with it all the same.
  const flags = ['--silent', '--skipApiVersionCheck', '--disableTelemetry', '--location', location];
  return spawn(process.execPath, [script, ...flags], {
    stdio: ['ignore', 'ignore', 'inherit'],
    detached: process.platform !== 'win32', // Ctrl-C reaches the stack alone.
  });
}

async function untilComplete(child: ChildProcess): Promise<void> {
  const deadline = Date.now() + startLimitMs;
  for (;;) {
    const missing = await missingServices();
    if (missing.length === 0) return;
    if (child.exitCode !== null) throw new Error(`Azurite ended while it started (exit code ${child.exitCode}).`);
    if (Date.now() > deadline) throw new Error(`Azurite does not serve ${missing.join(', ')}.`);
    await sleep(pollMs);
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}

async function missingServices(): Promise<string[]> {
  const answers = await Promise.all(services.map(({ port }) => answersOn(port)));
  return services
    .filter((_service, index) => answers[index] !== true)
    .map(({ name, port }) => `${name} (port ${port})`);
}

async function answersOn(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
