import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../support/app-eventually.js';
import { expectFailed, expectProcessed } from '../../support/app-expect.js';
import { submit, untilRecord } from '../../support/app-orders.js';
import { startApp } from '../../support/app-stack.js';
import type { App } from '../../support/app-stack.js';
import { orderMessage } from '../../support/builders.js';

const soon = { withinMs: 40_000 };

describe('a host killed with SIGKILL and started again', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp(
      { STEP_DEADLINE_MS: '3000', CLAIM_LEASE_MS: '2000', MAX_FAILURES: '10', MAX_CALLS_PER_STEP: '40' },
      { lockDuration: 'PT5S' },
    );
  });
  afterAll(() => app.stop());

  const restart = async (): Promise<void> => {
    await app.stack.kill('functions-host');
    await app.stack.restart('functions-host');
  };
  const holdAt = async (orderId: string, service: string, operation?: string): Promise<void> => {
    const where = operation === undefined ? { orderId, service } : { orderId, service, operation };
    app.remote.script({ ...where, disturbance: 'hold', times: 1 });
    await submit(app, orderId);
    await eventually(() => {
      const calls = app.remote.calls(orderId).filter((call) => call.service === service);
      expect(calls.some((call) => operation === undefined || call.operation === operation)).toBe(true);
    });
  };

  it('finishes orders that were in different steps, each step once (R6, R19)', async () => {
    const declined = { status: 422, code: 'Declined' };
    app.remote.script({ orderId: 'in-undo', service: 'inventory', operation: 'reservations', disturbance: declined });
    await Promise.all([
      holdAt('in-payment', 'payment'),
      holdAt('in-inventory', 'inventory'),
      holdAt('in-shipping', 'shipping'),
      holdAt('in-undo', 'payment', 'refunds'),
    ]);
    await app.stack.kill('functions-host');
    await submit(app, 'while-down');
    for (const orderId of ['in-payment', 'in-inventory', 'in-shipping', 'in-undo']) app.remote.release(orderId);
    await app.stack.restart('functions-host');

    for (const orderId of ['in-payment', 'in-inventory', 'in-shipping', 'while-down']) {
      await expectProcessed(app, orderId, { patience: soon });
    }
    await expectFailed(app, 'in-undo', { as: 'Compensated', reason: 'Refused', patience: soon });
    expect(app.remote.done('in-undo')).toEqual(['payment/charges', 'inventory/releases', 'payment/refunds']);
  }, 60_000);

  it.each(['payment', 'inventory'])(
    'believes no refusal of %s that comes after a call of the dead host (A4, T71)',
    async (service) => {
      const orderId = `refused-later-${service}`;
      app.remote.script({ orderId, service, disturbance: 'silenceAfterEffect', times: 1 });
      await submit(app, orderId);
      await eventually(() => {
        expect(app.remote.effects(orderId)).toMatchObject({ [`${orderId}.${service}`]: 1 });
      });
      const operation = service === 'payment' ? 'charges' : 'reservations';
      app.remote.script({ orderId, service, operation, disturbance: { status: 422, code: 'Declined' } });
      await restart();
      await expectFailed(app, orderId, { as: 'Compensated', reason: 'Refused', patience: soon });
    },
    60_000,
  );

  it('loses and repeats nothing when it dies in the middle of a rush of orders (C75)', async () => {
    const orderIds = Array.from({ length: 20 }, (_, index) => `rush-${index}`);
    const sender = app.bus.createSender('orders');
    await sender.sendMessages(orderIds.map((orderId) => ({ body: orderMessage({ orderId }), messageId: orderId })));
    await sender.close();
    const callsSoFar = (): number => orderIds.flatMap((orderId) => app.remote.calls(orderId)).length;
    for (const calls of [5, 35]) {
      await eventually(() => {
        expect(callsSoFar()).toBeGreaterThanOrEqual(calls);
      });
      await restart();
    }
    for (const orderId of orderIds) await expectProcessed(app, orderId, { patience: soon });
    expect(app.orderDeadLetters.messages).toEqual([]);
  }, 90_000);

  it('finds a finished order whose status was not sent (T53)', async () => {
    await app.stack.setFaults('service-bus', {
      seed: 1,
      rules: [{ operation: 'send', entity: 'status-web-shop', action: 'pause' }],
    });
    await submit(app, 'unsent');
    await untilRecord(app, 'unsent', ({ processState }) => processState === 'Processed', soon);
    await app.stack.kill('functions-host');
    await app.stack.setFaults('service-bus');
    await app.stack.restart('functions-host');
    await expectProcessed(app, 'unsent', { patience: soon });
  }, 60_000);
});
