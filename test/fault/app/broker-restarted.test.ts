import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../support/app-eventually.js';
import { expectProcessed } from '../../support/app-expect.js';
import { submit } from '../../support/app-orders.js';
import { startApp } from '../../support/app-stack.js';
import type { App } from '../../support/app-stack.js';
import { orderMessage } from '../../support/builders.js';

const soon = { withinMs: 40_000 };

describe('a broker killed with SIGKILL and started again', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp(
      { STEP_DEADLINE_MS: '4000', MAX_FAILURES: '10', MAX_CALLS_PER_STEP: '40' },
      { lockDuration: 'PT5S' },
    );
  });
  afterAll(() => app.stop());

  it('costs no order that was in progress, and no step is done twice', async () => {
    const held = { 'at-payment': 'payment', 'at-inventory': 'inventory', 'at-shipping': 'shipping' };
    for (const [orderId, service] of Object.entries(held)) {
      app.remote.script({ orderId, service, disturbance: 'hold', times: 1 });
      await submit(app, orderId);
      await eventually(() => {
        expect(app.remote.calls(orderId).some((call) => call.service === service)).toBe(true);
      });
    }
    await app.stack.kill('service-bus');
    for (const orderId of Object.keys(held)) app.remote.release(orderId);
    await app.stack.restart('service-bus');
    for (const orderId of Object.keys(held)) await expectProcessed(app, orderId, { patience: soon });
  }, 60_000);

  it('in the middle of a rush of orders loses none', async () => {
    const orderIds = Array.from({ length: 20 }, (_, index) => `rush-${index}`);
    const sender = app.bus.createSender('orders');
    await sender.sendMessages(orderIds.map((orderId) => ({ body: orderMessage({ orderId }), messageId: orderId })));
    await sender.close();
    await eventually(() => {
      expect(orderIds.flatMap((orderId) => app.remote.calls(orderId)).length).toBeGreaterThan(10);
    });
    await app.stack.kill('service-bus');
    await app.stack.restart('service-bus');
    for (const orderId of orderIds) await expectProcessed(app, orderId, { patience: soon });
    expect(app.orderDeadLetters.messages).toEqual([]);
  }, 60_000);
});
