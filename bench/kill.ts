/** The Functions host dies with many orders in progress and is started again: time until all are done, and calls repeated. */
import { startStack } from '../local/stack.js';
import { startApplication } from './application.js';
import { startBenchRemote } from './bench-remote.js';
import { openRecords, until } from './order-records.js';

interface Run {
  readonly name: string;
  readonly settings: Readonly<Record<string, string>>;
  /** A call this slow lets orders pile up in all their steps, and none misses a deadline on a machine fast enough. */
  readonly slowCallMs: number;
}

/** How long the tail waits is a matter of settings: short deadlines recover soon and forgive a busy system less. */
const runs: readonly Run[] = [
  { name: 'settings of the sample', settings: {}, slowCallMs: 400 },
  {
    name: 'short deadlines (2 s for a step and a claim, supervisor each second, backoff 0.1 s)',
    settings: {
      STEP_DEADLINE_MS: '2000',
      CLAIM_LEASE_MS: '2000',
      SUPERVISOR_SCHEDULE: '* * * * * *',
      SUPERVISOR_GRACE_MS: '100',
      RETRY_BACKOFF_MS: '100',
    },
    slowCallMs: 100,
  },
];

/**
 * Prints how long it took from the kill, with each set of settings. What the dead host held under a peek-lock comes back
 * only when the lock ends, as in Azure, so those orders wait for their step's deadline and the supervisor: they make the
 * tail, with those that were claimed and not yet started.
 */
export async function benchKill(orders: number): Promise<void> {
  for (const run of runs) await killOnce(orders, run);
}

async function killOnce(orders: number, { name, settings, slowCallMs }: Run): Promise<void> {
  const remote = await startBenchRemote();
  const stack = await startStack({ settings: { ...remote.settings, MAX_IN_FLIGHT: '1000', ...settings } });
  const application = startApplication(stack.connectionString);
  const records = openRecords(stack);
  try {
    await Promise.all(Array.from({ length: 32 }, (_, number) => application.process(`warm-${number}`)));
    remote.takes(slowCallMs);
    const ids = Array.from({ length: orders }, (_, number) => `k-${number}`);
    const doneAt: number[] = [];
    const done = Promise.all(
      ids.map(async (id) => application.whenDone(id).then(() => doneAt.push(performance.now()))),
    );
    await Promise.all(ids.map((id) => application.send(id)));
    await until(async () => (await records.count('Processing')) + doneAt.length >= orders, 20);

    const doneBefore = doneAt.length;
    const killedAt = performance.now();
    await stack.kill('functions-host');
    remote.takes(0);
    await stack.restart('functions-host');
    const readyMs = performance.now() - killedAt;
    await done;
    const recovered = doneAt.slice(doneBefore).map((at) => at - killedAt);
    const seconds = (ms = NaN): string => `${(ms / 1000).toFixed(1)} s`;
    const at = (share: number): string => seconds(recovered[Math.ceil(share * recovered.length) - 1]);
    const repeated = [...remote.calls].reduce((sum, [, calls]) => sum + calls - 1, 0);
    const failures = await Promise.all(ids.map((id) => records.read(id, 'failureCount')));
    const retried = failures.filter((count) => count !== 0).length;
    console.log(
      `${name}:\n  ${recovered.length} orders in progress at kill -9, host back after ${seconds(readyMs)}; done after ` +
        `it: half ${at(0.5)}, 90 % ${at(0.9)}, all ${at(1)} (target ≤ 4 s)\n` +
        `  ${repeated} repeated calls at the remote services; ${retried} orders needed another attempt`,
    );
  } finally {
    records.client.dispose();
    await application.close();
    await stack.stop();
    await remote.close();
  }
}
