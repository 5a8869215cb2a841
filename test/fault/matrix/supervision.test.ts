/** Several starters and supervisors at once, and a supervisor that dies in the middle of its page. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ManagedPart } from '../../../local/managed-part.js';
import { findPartEntry, findProjectRoot } from '../../../local/project.js';
import type { StateRecord } from '../../../functions/state/state-record.js';
import { violations } from '../../support/matrix-invariants.js';
import { eventually, matrixOrder, startMatrixWorld } from '../../support/matrix-world.js';
import type { MatrixWorld } from '../../support/matrix-world.js';
import { runByHand } from './discover.js';
import { hitsOf } from './effect.js';

const never = '0 0 0 1 1 *';

/**
 * Nothing runs by the clock: only what a test runs by hand starts and recovers, one order after the other. A busy machine
 * may take as many attempts as it needs.
 */
const byHand: Readonly<Record<string, string>> = {
  STARTER_SCHEDULE: never,
  SUPERVISOR_SCHEDULE: never,
  SUPERVISOR_CONCURRENCY: '1',
  MAX_FAILURES: '20',
  MAX_CALLS_PER_STEP: '80',
};
const limitMs = 90_000;

/** Calls to the payment service that one request may make: all of them hang in the first attempt. */
const callAllowance = 2;

const recover = { part: 'cosmos-db', operation: 'replace', entity: 'order-state' } as const;

describe('starters and supervisors', () => {
  let world: MatrixWorld;

  beforeAll(async () => {
    world = await startMatrixWorld({ settings: byHand });
    const noHints = { operation: 'send', entity: 'supervisor-hints', action: 'drop' } as const;
    await world.setFault('service-bus', { seed: 1, rules: [noHints] });
  });
  afterAll(() => world.close());

  /** Sends orders whose first attempt hangs at the payment, and waits until every one of them has expired. */
  async function expiredOrders(prefix: string, count: number): Promise<ReadonlyMap<string, unknown>> {
    const orderIds = Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
    const sent = new Map(orderIds.map((orderId) => [orderId, matrixOrder(orderId)]));
    for (const [orderId, body] of sent) {
      world.remote.script(orderId, (operation, nth) =>
        operation === 'payment/charges' && nth <= callAllowance ? 'hang' : 'work',
      );
      await world.send(body, orderId);
    }
    await eventually('all attempts to expire', async () => {
      const records = await Promise.all(orderIds.map((orderId) => world.record(orderId)));
      return records.every((record) => isExpired(record));
    });
    return sent;
  }

  /** Its time is up, or somebody has seen that already. */
  function isExpired(record: StateRecord | undefined): boolean {
    if (record === undefined || record.failureCount > 0) return record !== undefined;
    const isRunning = record.steps.some(({ state }) => state === 'Running');
    return isRunning && record.completeBy !== null && Date.parse(record.completeBy) + 200 < Date.now();
  }

  /** Runs starters and supervisors, several of each at once, until all orders have ended. */
  async function driveToEnd(sent: ReadonlyMap<string, unknown>, atOnce: number): Promise<readonly StateRecord[]> {
    const names = Array.from({ length: atOnce }, () => ['supervisor', 'starter']).flat();
    let rounds = 0;
    return eventually('all orders to end', async () => {
      if (rounds++ % 10 === 0) await Promise.all(names.map((name) => runByHand(world, name)));
      const records = await Promise.all([...sent.keys()].map((orderId) => world.record(orderId)));
      return records.every((record) => record?.processState === 'Processed') ? (records as StateRecord[]) : undefined;
    });
  }

  /** However many attempts a busy machine took: each was claimed once and expired at most once. */
  function expectEachOnce(records: readonly StateRecord[]): void {
    for (const { attempt, failureCount, history } of records) {
      const claims = history.filter(({ note }) => note.endsWith(' claimed')).map(({ note }) => note);
      const expiries = history.flatMap(({ note }) => /^attempt \d+ expired/.exec(note) ?? []);
      expect(failureCount).toBe(attempt - 1);
      expect(claims).toEqual(Array.from({ length: attempt }, (_, index) => `attempt ${index + 1} claimed`));
      expect(expiries).toEqual(Array.from({ length: attempt - 1 }, (_, index) => `attempt ${index + 1} expired`));
    }
  }

  it(
    'at once, three of each, recover each order once and start each attempt once (R39, T5, T64, C15)',
    async () => {
      const sent = await expiredOrders('crowd', 8);
      expectEachOnce(await driveToEnd(sent, 3));
      expect(await violations(world, sent)).toEqual([]);
    },
    limitMs,
  );

  it(
    'a supervisor that dies after half of its page leaves the rest to the next run (T60, T61)',
    async () => {
      const sent = await expiredOrders('half', 6);
      const hits = async (): Promise<number> => hitsOf(await world.stack.counters('cosmos-db'), recover, 'pause');
      const before = await hits();
      const { operation, entity } = recover;
      await world.setFault('cosmos-db', {
        seed: 1,
        rules: [{ operation, entity, action: 'pause', skip: 3, times: 1 }],
      });
      await runByHand(world, 'supervisor');
      await eventually('the fourth recovery', async () => (await hits()) > before);
      await world.stack.kill('functions-host');
      const states = await Promise.all(
        [...sent.keys()].map(async (orderId) => (await world.record(orderId))?.processState),
      );
      expect(states.filter((state) => state === 'Pending')).toHaveLength(3);
      await world.stack.restart('functions-host');
      await world.setFault('cosmos-db');
      expectEachOnce(await driveToEnd(sent, 1));
      expect(await violations(world, sent)).toEqual([]);
    },
    limitMs,
  );

  it(
    'a second host with a supervisor of its own, killed now and then, recovers no order twice (T64)',
    async () => {
      const other = await startSupervisorHost(world);
      const sent = await expiredOrders('two-hosts', 8);
      await other.kill();
      await other.start();
      expectEachOnce(await driveToEnd(sent, 2));
      expect(await violations(world, sent)).toEqual([]);
    },
    limitMs,
  );
});

/** A host on the same broker and store in which the supervisor runs each second, and nothing else does. */
async function startSupervisorHost({ stack }: MatrixWorld): Promise<ManagedPart<'functions-host'>> {
  const response = await fetch(`${stack.hostUrl}/admin/functions`);
  const functions = (await response.json()) as readonly { readonly name: string }[];
  const others = functions.filter(({ name }) => name !== 'supervisor');
  const settings = {
    ...stack.settings,
    SUPERVISOR_SCHEDULE: '* * * * * *',
    ...Object.fromEntries(others.map(({ name }) => [`AzureWebJobs.${name}.Disabled`, 'true'])),
  };
  const host = new ManagedPart({
    name: 'functions-host',
    entry: findPartEntry(findProjectRoot()),
    environment: { PATH: process.env['PATH'] },
    port: undefined,
    faults: undefined,
    options: () => ({
      appDirectory: findProjectRoot(),
      dataDirectory: join(stack.dataDirectory, 'second-host'),
      fsync: 'never',
      settings,
    }),
    onLine: () => undefined,
    onUnexpectedEnd: () => undefined,
  });
  await host.start();
  onTestFinished(() => host.stop());
  return host;
}
