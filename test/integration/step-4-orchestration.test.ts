import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/app-eventually.js';
import { expectProcessed } from '../support/app-expect.js';
import { showRecord, submit, untilRecord } from '../support/app-orders.js';
import { startApp } from '../support/app-stack.js';
import type { App } from '../support/app-stack.js';
import { orderMessage } from '../support/builders.js';

describe('step 4: orchestration', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({
      CLAIM_LEASE_MS: '300000',
      STEP_DEADLINE_MS: '300000',
    });
  });
  afterAll(() => app.stop());

  const hold = (orderId: string, service: string): void => {
    app.remote.script({ orderId, service, disturbance: 'hold' });
  };

  it('runs the steps of the workflow in their order, each after the reply to the one before', async () => {
    await submit(app, 'in-order');
    const record = await expectProcessed(app, 'in-order');
    expect(app.remote.done('in-order')).toEqual(['payment/charges', 'inventory/reservations', 'shipping/shipments']);
    expect(record).toMatchObject({ attempt: 1, failureCount: 0, lockedBy: 'in-order.1', completeBy: null });
  });

  it('records what runs, until when, and what may have to be undone, while it runs', async () => {
    hold('running', 'inventory');
    await submit(app, 'running');
    const record = await untilRecord(app, 'running', ({ steps }) => steps[1]?.state === 'Running');
    expect(record).toMatchObject({ processState: 'Processing', lockedBy: 'running.1' });
    expect(record.steps.map(({ state }) => state)).toEqual(['Completed', 'Running', 'NotStarted']);
    expect(record.completeBy).toBe(record.steps[1]?.completeBy);
    expect(record.compensation.map(({ stepId, state }) => `${stepId} ${state}`)).toEqual([
      'payment Recorded',
      'inventory Recorded',
    ]);
    app.remote.release('running');
    await expectProcessed(app, 'running');
  });

  it('does not let one order wait for another', async () => {
    hold('slow', 'payment');
    await submit(app, 'slow');
    await untilRecord(app, 'slow', ({ steps }) => steps[0]?.state === 'Running');
    await submit(app, 'quick');
    await expectProcessed(app, 'quick');
    expect(await showRecord(app, 'slow')).toMatchObject({ processState: 'Processing' });
    app.remote.release('slow');
    await expectProcessed(app, 'slow');
  });

  it('leaves no timer open: the instance is over long before its deadlines (C13, T21)', async () => {
    await submit(app, 'no-timer');
    await expectProcessed(app, 'no-timer');
    await eventually(async () => {
      expect(await app.instance('no-timer.1')).toMatchObject({ runtimeStatus: 'Completed' });
    });
  });

  it('keeps the contents of an order out of the history, however big it is (C37, T78)', async () => {
    const lines = Array.from({ length: 200 }, (_, index) => ({
      sku: `SECRET-${index}-${'x'.repeat(40)}`,
      quantity: 1,
      unitPriceMinor: 1,
    }));
    await submit(app, 'big', { lines });
    await expectProcessed(app, 'big');
    const history = JSON.stringify(await app.instance('big.1'));
    expect(history.length).toBeLessThan(16_384);
    const { shippingAddress, customerId, paymentToken } = orderMessage();
    for (const secret of ['SECRET-', customerId, paymentToken, JSON.stringify(shippingAddress)]) {
      expect(history).not.toContain(secret);
    }
  });

  it('keeps finished attempts as long as the retention says, although the purge runs (C103)', async () => {
    await submit(app, 'kept');
    await expectProcessed(app, 'kept');
    await app.invoke('history-purge');
    await eventually(() => {
      expect(app.log.events('history-purged')).toEqual([expect.objectContaining({ purged: 0, isBehind: false })]);
    });
    expect(await app.instance('kept.1')).toMatchObject({ runtimeStatus: 'Completed' });
  });

  it('loses no reply of agents that answer at once (C9)', async () => {
    const orderIds = Array.from({ length: 60 }, (_, index) => `burst-${index}`);
    const sender = app.bus.createSender('orders');
    await sender.sendMessages(orderIds.map((orderId) => ({ body: orderMessage({ orderId }), messageId: orderId })));
    await sender.close();
    for (const orderId of orderIds) {
      const { attempt, failureCount } = await expectProcessed(app, orderId, { patience: { withinMs: 30_000 } });
      expect({ orderId, attempt, failureCount }).toEqual({ orderId, attempt: 1, failureCount: 0 });
    }
    expect(app.log.events('attempt-expired')).toEqual([]);
  });
});
