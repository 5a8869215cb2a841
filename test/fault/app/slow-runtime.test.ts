/** A slow or paused runtime is no failure of an order. Leases and delays are a quarter of those of the sample settings. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../support/app-eventually.js';
import { expectProcessed } from '../../support/app-expect.js';
import { startApp } from '../../support/app-stack.js';
import type { App } from '../../support/app-stack.js';
import { orderMessage } from '../../support/builders.js';

const claimLeaseMs = 2_500;
const stepDeadlineMs = 3_000;
const patience = { withinMs: 120_000 };
const withoutEnd = 180_000;

describe('a runtime', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({
      CLAIM_LEASE_MS: String(claimLeaseMs),
      STEP_DEADLINE_MS: String(stepDeadlineMs),
      MAX_IN_FLIGHT: '24',
    });
  });
  afterEach(() => app.stack.setFaults('functions-host'));
  afterAll(() => app.stop());

  const orders = (name: string, count: number): readonly string[] =>
    Array.from({ length: count }, (_, index) => `${name}-${index}`);
  const sendAll = async (orderIds: readonly string[]): Promise<void> => {
    const sender = app.bus.createSender('orders');
    await sender.sendMessages(orderIds.map((orderId) => ({ body: orderMessage({ orderId }), messageId: orderId })));
    await sender.close();
  };
  const expectAllProcessed = async (orderIds: readonly string[], attempts: readonly number[]): Promise<void> => {
    for (const orderId of orderIds) {
      const record = await expectProcessed(app, orderId, { patience });
      expect(record.failureCount, orderId).toBe(0);
      expect(attempts, orderId).toContain(record.attempt);
    }
  };

  it(
    'that is paused until every lease has been renewed costs no order an attempt more than one (T2)',
    async () => {
      const orderIds = orders('paused', 20);
      await app.stack.setFaults('functions-host', { seed: 1, rules: [{ operation: 'turn', action: 'pause' }] });
      await sendAll(orderIds);
      await eventually(() => {
        const late = orderIds.map((orderId) => app.log.events('attempt-late', orderId).length);
        expect(late.filter((count) => count >= 2).length).toBeGreaterThanOrEqual(12);
      }, patience);
      await app.stack.setFaults('functions-host');
      await expectAllProcessed(orderIds, [1, 2]);
    },
    withoutEnd,
  );

  it(
    'that begins an attempt only after its lease is over costs no order anything (T2)',
    async () => {
      const orderIds = orders('late-start', 20);
      const delayMs = 1.5 * claimLeaseMs;
      const rules = [{ operation: 'firstTurn', action: 'delay', delayMs } as const];
      await app.stack.setFaults('functions-host', { seed: 1, rules });
      await sendAll(orderIds);
      await expectAllProcessed(orderIds, [1]);
    },
    withoutEnd,
  );

  it(
    'whose every turn takes longer than a step may does not lose the replies that were received in time (W2)',
    async () => {
      const orderIds = orders('slow-turns', 5);
      const delayMs = 1.5 * stepDeadlineMs;
      await app.stack.setFaults('functions-host', {
        seed: 1,
        rules: [{ operation: 'turn', action: 'delay', delayMs }],
      });
      await sendAll(orderIds);
      await expectAllProcessed(orderIds, [1]);
    },
    withoutEnd,
  );
});
