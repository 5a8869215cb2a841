import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../support/app-eventually.js';
import { expectProcessed } from '../../support/app-expect.js';
import { submit, untilRecord } from '../../support/app-orders.js';
import { startApp } from '../../support/app-stack.js';
import type { App } from '../../support/app-stack.js';

describe('a remote service that is down for a while', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({ STEP_DEADLINE_MS: '3000', BREAKER_FAILURES: '2', BREAKER_OPEN_MS: '2000' });
  });
  afterAll(() => app.stop());

  it('has a circuit of its own: other remote services are called meanwhile (R119)', async () => {
    const down = { status: 503, code: 'Down' };
    app.remote.script({ orderId: 'no-shipping', service: 'shipping', disturbance: down, times: 2 });
    await submit(app, 'no-shipping');
    await eventually(() => {
      expect(app.log.events('agent-silent', 'no-shipping')).toHaveLength(1);
    });
    await submit(app, 'paid-meanwhile');
    const { steps } = await expectProcessed(app, 'paid-meanwhile');
    expect(steps[0]?.requestId).toBe('paid-meanwhile.1.payment');
    await expectProcessed(app, 'no-shipping');
  });

  it('is left alone; orders that come meanwhile wait without using up an attempt (T67)', async () => {
    app.remote.script({ orderId: 'unlucky', service: 'payment', disturbance: { status: 503, code: 'Down' }, times: 2 });
    await submit(app, 'unlucky');
    await eventually(() => {
      expect(app.log.events('agent-silent', 'unlucky')).toHaveLength(1);
    });
    await submit(app, 'waiting');
    const deferred = await untilRecord(
      app,
      'waiting',
      ({ processState, attempt }) => processState === 'Pending' && attempt === 1,
    );
    expect(deferred).toMatchObject({ failureCount: 0, lockedBy: null, budget: { spent: 0 } });
    expect(app.remote.calls('waiting')).toEqual([]);

    const record = await expectProcessed(app, 'waiting');
    expect(record.failureCount).toBe(0);
    expect(record.attempt).toBeGreaterThan(1);
    expect(await expectProcessed(app, 'unlucky')).toMatchObject({ failureCount: 1 });
  });
});
