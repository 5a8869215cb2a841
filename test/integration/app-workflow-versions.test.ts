import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/app-eventually.js';
import { expectFailed, expectProcessed } from '../support/app-expect.js';
import { showRecord, submit, untilRecord } from '../support/app-orders.js';
import { oldRecord, plant, storedDocument } from '../support/app-records.js';
import { startApp } from '../support/app-stack.js';
import type { App } from '../support/app-stack.js';

describe.concurrent('an app whose new orders take workflow version 2', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({ WORKFLOW_VERSION: '2', STEP_DEADLINE_MS: '4000' });
  });
  afterAll(() => app.stop());

  it('runs the new step for a new order (R53)', async () => {
    await submit(app, 'new-order');
    const steps = ['payment', 'inventory', 'shipping', 'invoice'];
    expect(await expectProcessed(app, 'new-order', { steps })).toMatchObject({ workflowVersion: 2, attempt: 1 });
  });

  it('finishes an order of version 1 by the steps it began with (T53, C61)', async () => {
    await plant(app, 'old-order', oldRecord('old-order', { workflowVersion: 1 }));
    await untilRecord(app, 'old-order', ({ processState }) => processState === 'Processed');
    const { steps } = await showRecord(app, 'old-order');
    expect(steps.map(({ id, state }) => `${id} ${state}`)).toEqual([
      'payment Completed',
      'inventory Completed',
      'shipping Completed',
    ]);
    expect(Object.keys(app.remote.effects('old-order'))).toHaveLength(3);
  });

  it('undoes the new step like the others', async () => {
    const disturbance = { status: 422, code: 'Declined' };
    app.remote.script({ orderId: 'no-invoice', service: 'invoice', operation: 'invoices', disturbance });
    await submit(app, 'no-invoice');
    await expectFailed(app, 'no-invoice', { as: 'Compensated', reason: 'Refused' });
    expect(app.remote.done('no-invoice').slice(3)).toEqual([
      'invoice/credit-notes',
      'shipping/cancellations',
      'inventory/releases',
      'payment/refunds',
    ]);
  });

  it('leaves an order of a version it does not know to a newer build, and says so (T41)', async () => {
    await plant(app, 'future', oldRecord('future', { workflowVersion: 99 }));
    const planted = await storedDocument(app, 'order-state', 'future');
    await eventually(() => {
      expect(app.log.alerted('record-newer')).toContain('future');
    });
    expect(await storedDocument(app, 'order-state', 'future')).toEqual(planted);
  });
});
