/**
 * A deployment in the middle of running orders: one build is replaced by another on the same data. Running orders keep
 * their workflow, new orders get the new one; a build that is older than an order leaves it alone.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createEarlierBuild } from '../../support/earlier-build.js';
import { violations } from '../../support/matrix-invariants.js';
import { eventually, matrixOrder, startMatrixWorld } from '../../support/matrix-world.js';
import type { MatrixWorld } from '../../support/matrix-world.js';
import type { StackOptions } from '../../../local/stack.js';

function ordersOf(prefix: string): ReadonlyMap<string, unknown> {
  const orderIds = Array.from({ length: 5 }, (_, index) => `${prefix}-${index}`);
  return new Map(orderIds.map((orderId) => [orderId, matrixOrder(orderId)]));
}

async function sendAll(world: MatrixWorld, sent: ReadonlyMap<string, unknown>): Promise<void> {
  for (const [orderId, body] of sent) await world.send(body, orderId);
}

async function services(world: MatrixWorld, orderId: string): Promise<readonly string[]> {
  const response = await fetch(`${world.stack.hostUrl}/api/demo/ledger/${orderId}`);
  const entries = (await response.json()) as readonly { readonly service: string }[];
  return entries.map(({ service }) => service);
}

it('orders of the old and the new workflow both finish when the app is replaced meanwhile (R53, T80, C61)', async () => {
  const { earlier, present } = builds();
  const before = await startMatrixWorld(earlier);
  const old = ordersOf('old');
  const received = await endWhileShipping(before, old);

  const after = await startMatrixWorld(present);
  onTestFinished(() => after.close());
  const fresh = ordersOf('new');
  await sendAll(after, fresh);
  const found = await violations(withEarlierStatuses(after, received), new Map([...old, ...fresh]));
  expect(found).toEqual([]);
  const records = await Promise.all(['old-0', 'new-0'].map((orderId) => after.record(orderId)));
  expect(records.map((record) => [record?.workflowVersion, record?.processState])).toEqual([
    [1, 'Processed'],
    [2, 'Processed'],
  ]);
  expect(await services(after, 'old-0')).toEqual(['payment', 'inventory', 'shipping']);
  expect(await services(after, 'new-0')).toEqual(['payment', 'inventory', 'shipping', 'invoice']);
}, 120_000);

it('orders of the new workflow survive a deployment that is taken back for a while (T41, T81, C61)', async () => {
  const { earlier, present } = builds();
  const fresh = ordersOf('new');
  const received = await endWhileShipping(await startMatrixWorld(present), fresh);

  const log: string[] = [];
  const takenBack = await startMatrixWorld({ ...earlier, log: (line) => log.push(line) });
  await eventually('all to be left alone, and told', () =>
    [...fresh.keys()].every((orderId) => log.some((line) => line.includes('record-newer') && line.includes(orderId))),
  );
  const left = await Promise.all([...fresh.keys()].map((orderId) => takenBack.record(orderId)));
  for (const record of left) expect(record).toMatchObject({ processState: 'Processing', attempt: 1, failureCount: 0 });
  await takenBack.close();

  const again = await startMatrixWorld(present);
  onTestFinished(() => again.close());
  expect(await violations(withEarlierStatuses(again, received), fresh)).toEqual([]);
  expect(await services(again, 'new-0')).toEqual(['payment', 'inventory', 'shipping', 'invoice']);
}, 120_000);

/** Options of a world with the earlier build and of one with today's, on the same data. */
function builds(): Record<'earlier' | 'present', StackOptions> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'matrix-deployment-'));
  const { appDirectory, remove } = createEarlierBuild();
  onTestFinished(() => {
    rmSync(dataDirectory, { recursive: true, force: true });
    remove();
  });
  const settings = { STEP_DEADLINE_MS: '5000', CLAIM_LEASE_MS: '5000' };
  return {
    earlier: { dataDirectory, appDirectory, settings: { ...settings, WORKFLOW_VERSION: '1' } },
    present: { dataDirectory, settings: { ...settings, WORKFLOW_VERSION: '2' } },
  };
}

type Statuses = ReadonlyMap<string, ReturnType<MatrixWorld['statuses']>>;

/** Ends the world while the orders wait for their carrier; answers the statuses that the application has read by then. */
async function endWhileShipping(world: MatrixWorld, sent: ReadonlyMap<string, unknown>): Promise<Statuses> {
  const holdReplies = { operation: 'send', entity: 'shipping-replies', action: 'pause' } as const;
  await world.setFault('service-bus', { seed: 1, rules: [holdReplies] });
  await sendAll(world, sent);
  await eventually('all orders to wait for their carrier', async () => {
    const records = await Promise.all([...sent.keys()].map((orderId) => world.record(orderId)));
    return records.every((record) => record?.steps.find(({ id }) => id === 'shipping')?.state === 'Running');
  });
  const received = new Map([...sent.keys()].map((orderId) => [orderId, world.statuses(orderId)]));
  await world.stack.kill('functions-host'); // Its agents would wait for the broker to let their replies in.
  await world.close();
  return received;
}

/** The application has read the first statuses before the deployment. */
function withEarlierStatuses(world: MatrixWorld, earlier: Statuses): MatrixWorld {
  return { ...world, statuses: (orderId) => [...(earlier.get(orderId) ?? []), ...world.statuses(orderId)] };
}
