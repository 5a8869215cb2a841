import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { cleanUp } from './service-bus-broker.js';

/** A broker in a process of its own. */
export interface BrokerProcess {
  readonly connectionString: string;
  readonly pid: number;
  /** Ends it with SIGKILL, and resolves when it is gone. */
  kill(): Promise<void>;
}

/** Starts a broker process; it ends with the test if it is not killed before. */
export async function startBrokerProcess(
  dataDirectory: string,
  topology: unknown,
  fsync: 'never' | 'always' = 'never',
): Promise<BrokerProcess> {
  // A small young generation: what is read becomes garbage that does not wait long, so the peak is what is kept.
  const heap = '--max-semi-space-size=1';
  const flags = ['--no-warnings', heap, '--import', join(import.meta.dirname, 'register-typescript.ts')];
  const program = join(import.meta.dirname, 'service-bus-child.ts');
  const child = spawn(process.execPath, [...flags, program, dataDirectory, JSON.stringify(topology), fsync], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  cleanUp(kill);
  for await (const line of createInterface({ input: child.stdout })) {
    return { connectionString: line, pid: child.pid ?? 0, kill };
  }
  throw new Error('The broker process has ended before it was ready.');
}
