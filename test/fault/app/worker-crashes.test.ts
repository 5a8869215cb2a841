import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../support/app-eventually.js';
import { expectProcessed } from '../../support/app-expect.js';
import { submit } from '../../support/app-orders.js';
import { startApp } from '../../support/app-stack.js';
import type { App } from '../../support/app-stack.js';
import { orderMessage } from '../../support/builders.js';

const patience = { withinMs: 90_000 };
const withoutEnd = 120_000;

describe('the worker of the app crashes three times in a row', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp(
      { CLAIM_LEASE_MS: '2000', STEP_DEADLINE_MS: '4000', MAX_FAILURES: '3' },
      { lockDuration: 'PT5S' },
    );
  });
  afterEach(() => app.stack.setFaults('functions-host'));
  afterAll(() => app.stop());

  const crashes = async (): Promise<number> => (await app.stack.counters('functions-host'))['worker.exits'] ?? 0;
  const crashAt = (entity: string, skip: number, times = 3): Promise<void> =>
    app.stack.setFaults('functions-host', {
      seed: 1,
      rules: [{ operation: 'worker', entity, action: 'cutBeforeCommit', skip, times }],
    });

  it.each([
    ['as an attempt begins', 'orderOrchestrator', 0],
    ['as an attempt reads a reply', 'orderOrchestrator', 1],
    ['as an agent in the app is called', 'inventory', 0],
    ['as an attempt advances', 'advance', 0],
  ])(
    '%s: the runtime fails its attempts, and the order counts no failure (T42)',
    async (name, entity, skip) => {
      const orderId = name.replaceAll(' ', '-');
      const before = await crashes();
      await crashAt(entity, skip);
      await submit(app, orderId);
      expect(await expectProcessed(app, orderId, { patience })).toMatchObject({ failureCount: 0 });
      expect(await crashes()).toBe(before + 3);
      expect(app.log.alerts(orderId)).toEqual([]);
    },
    withoutEnd,
  );

  it(
    'while many orders are under way costs none of them',
    async () => {
      const orderIds = Array.from({ length: 20 }, (_, index) => `rush-${index}`);
      const sender = app.bus.createSender('orders');
      await sender.sendMessages(orderIds.map((orderId) => ({ body: orderMessage({ orderId }), messageId: orderId })));
      await sender.close();
      for (let crash = 1; crash <= 3; crash += 1) {
        const before = await crashes();
        await crashAt('orderOrchestrator', 5, 1);
        await eventually(async () => {
          expect(await crashes()).toBe(before + 1);
        }, patience);
      }
      for (const orderId of orderIds) await expectProcessed(app, orderId, { patience });
      expect(app.orderDeadLetters.messages).toEqual([]);
    },
    withoutEnd,
  );
});
