import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { startHostProcess } from '../support/functions-host-process.js';

const megabyte = 1024 * 1024;

async function peakBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

it.skipIf(process.platform !== 'linux')(
  'the memory of the Functions host stays flat under bad and good requests',
  async () => {
    const host = await startHostProcess('durable-app');
    const large = 'x'.repeat(200_000);
    const round = async (): Promise<void> => {
      const requests = Array.from({ length: 50 }, (_, index) => [
        host.request('GET', 'nowhere'),
        host.request('POST', 'durabletask/instances/nobody/raiseEvent/go', `"${large}"`),
        host.request('POST', `durabletask/orchestrators/nobody/${index}`, '{broken'),
        host.request('GET', 'admin/host/status'),
      ]);
      await Promise.all(requests.flat());
    };
    for (let warmUp = 0; warmUp < 10; warmUp += 1) await round();
    const before = await peakBytes(host.pid);
    for (let count = 0; count < 20; count += 1) await round();
    expect((await peakBytes(host.pid)) - before).toBeLessThan(48 * megabyte);
  },
);
