import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../support/app-eventually.js';
import { expectProcessed } from '../../support/app-expect.js';
import { submit } from '../../support/app-orders.js';
import { oldRecord, plant } from '../../support/app-records.js';
import { runSecondStarter } from '../../support/app-second-starter.js';
import { startApp } from '../../support/app-stack.js';
import type { App } from '../../support/app-stack.js';

const never = '0 0 0 1 1 *';

describe('two starters', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({ STARTER_SCHEDULE: never });
  });
  afterAll(() => app.stop());

  const startedInstances = async (): Promise<number> =>
    (await app.stack.counters('functions-host'))['orchestrations.started'] ?? 0;

  it('claim and start each order once, however often both run (R87, C56)', async () => {
    const orderIds = Array.from({ length: 12 }, (_, index) => `order-${index}`);
    for (const orderId of orderIds) await plant(app, orderId, oldRecord(orderId));
    const before = await startedInstances();
    await Promise.all([
      ...['starter', 'starter', 'starter'].map((name) => app.invoke(name)),
      ...[1, 2, 3].map(() => runSecondStarter(app)),
    ]);
    for (const orderId of orderIds) {
      expect(await expectProcessed(app, orderId)).toMatchObject({ attempt: 1, failureCount: 0 });
      expect(app.remote.calls(orderId)).toHaveLength(3);
    }
    expect(await startedInstances()).toBe(before + orderIds.length);
  });

  it('and the eager start of submit agree on one attempt', async () => {
    const orderIds = Array.from({ length: 8 }, (_, index) => `eager-${index}`);
    const submitted = Promise.all(orderIds.map((orderId) => submit(app, orderId)));
    await eventually(async () => {
      await Promise.all([app.invoke('starter'), runSecondStarter(app)]);
      expect(app.log.events('order-accepted').length).toBeGreaterThanOrEqual(orderIds.length);
    });
    await submitted;
    for (const orderId of orderIds) {
      expect(await expectProcessed(app, orderId)).toMatchObject({ attempt: 1, failureCount: 0 });
    }
  });
});
