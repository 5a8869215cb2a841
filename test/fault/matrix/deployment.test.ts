/** A deployment in the middle of running orders: they keep their workflow, new orders get the new one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { violations } from '../../support/matrix-invariants.js';
import { eventually, matrixOrder, startMatrixWorld } from '../../support/matrix-world.js';
import type { MatrixWorld } from '../../support/matrix-world.js';

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
  const dataDirectory = mkdtempSync(join(tmpdir(), 'matrix-deployment-'));
  onTestFinished(() => {
    rmSync(dataDirectory, { recursive: true, force: true });
  });
  const settings = { STEP_DEADLINE_MS: '5000', CLAIM_LEASE_MS: '5000' };
  const before = await startMatrixWorld({ dataDirectory, settings: { ...settings, WORKFLOW_VERSION: '1' } });
  const old = ordersOf('old');
  await before.setFault('service-bus', {
    seed: 1,
    rules: [{ operation: 'send', entity: 'shipping-replies', action: 'pause' }],
  });
  await sendAll(before, old);
  await eventually('all old orders to wait for their carrier', async () => {
    const records = await Promise.all([...old.keys()].map((orderId) => before.record(orderId)));
    return records.every((record) => record?.steps.find(({ id }) => id === 'shipping')?.state === 'Running');
  });
  const received = new Map([...old.keys()].map((orderId) => [orderId, before.statuses(orderId)]));
  await before.stack.kill('functions-host'); // Its agents would wait for the broker to let their replies in.
  await before.close();

  const after = await startMatrixWorld({ dataDirectory, settings: { ...settings, WORKFLOW_VERSION: '2' } });
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

/** The application has read the first statuses before the deployment. */
function withEarlierStatuses(
  world: MatrixWorld,
  earlier: ReadonlyMap<string, ReturnType<MatrixWorld['statuses']>>,
): MatrixWorld {
  return { ...world, statuses: (orderId) => [...(earlier.get(orderId) ?? []), ...world.statuses(orderId)] };
}
