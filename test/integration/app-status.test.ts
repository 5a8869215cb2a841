import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectProcessed, expectFailed } from '../support/app-expect.js';
import { submit, untilStatuses } from '../support/app-orders.js';
import { startApp } from '../support/app-stack.js';
import type { App } from '../support/app-stack.js';

describe.concurrent('status messages', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.stop());

  it("go to the application's own queue and to no other (R114, R115)", async () => {
    await submit(app, 'of-mobile', { application: 'mobile-app' });
    await expectProcessed(app, 'of-mobile');
    expect(app.statuses['mobile-app'].of('of-mobile')).toHaveLength(2);
    expect(app.statuses['web-shop'].of('of-mobile')).toEqual([]);
  });

  it('carry the order id, a growing number and the time, and nothing internal (R117, T54, T58)', async () => {
    await submit(app, 'fields');
    await expectProcessed(app, 'fields');
    const [received, completed] = await untilStatuses(app, 'fields', ['OrderReceived', 'OrderCompleted']);
    expect(received).toEqual({
      schemaVersion: 1,
      orderId: 'fields',
      seq: 1,
      status: 'OrderReceived',
      at: expect.stringMatching(/^.{23}Z$/) as string,
    });
    expect(completed).toMatchObject({ orderId: 'fields', seq: 2 });
    expect(String(completed?.at) > String(received?.at)).toBe(true);
  });

  it('of a failed order name a public reason, not what happened inside (T58, T77)', async () => {
    app.remote.script({ orderId: 'secret', service: 'payment', disturbance: { status: 400, code: 'InternalDetail' } });
    await submit(app, 'secret');
    await expectFailed(app, 'secret', { as: 'Error', reason: 'Failed' });
    expect(JSON.stringify(app.statuses['web-shop'].of('secret'))).not.toMatch(/InternalDetail|scripted|payment/);
  });
});
