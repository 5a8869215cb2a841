import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectFailed, expectProcessed } from '../../support/app-expect.js';
import { submit } from '../../support/app-orders.js';
import { startApp } from '../../support/app-stack.js';
import type { App } from '../../support/app-stack.js';

const patience = { withinMs: 60_000 };

describe.concurrent('a workflow that is undone after its last failure', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({ WORKFLOW_VERSION: '3', MAX_FAILURES: '2', STEP_DEADLINE_MS: '2500' });
  });
  afterAll(() => app.stop());

  it('undoes what was done when a step has used up its attempts, the silent step included (R20, R36, T71)', async () => {
    app.remote.script({ orderId: 'given-up', service: 'shipping', operation: 'shipments', disturbance: 'silence' });
    await submit(app, 'given-up');
    const record = await expectFailed(app, 'given-up', { as: 'Compensated', reason: 'Undone', patience });
    expect(record).toMatchObject({ failureCount: 2, error: { code: 'AttemptsExhausted', stepId: 'shipping' } });
    const undone = app.remote.calls('given-up').filter(({ key }) => key.endsWith('.undo'));
    expect(undone.map(({ service, token }) => `${service} ${token}`)).toEqual([
      'shipping 3',
      'inventory 3',
      'payment 3',
    ]);
    expect(app.log.alerts('given-up')).toEqual([]);
  }, 90_000);

  it('undoes what was done when an agent reports an unrecoverable fault (R20)', async () => {
    const disturbance = { status: 400, code: 'Closed' };
    app.remote.script({ orderId: 'fault', service: 'shipping', operation: 'shipments', disturbance });
    await submit(app, 'fault');
    const record = await expectFailed(app, 'fault', { as: 'Compensated', reason: 'Undone', patience });
    expect(record).toMatchObject({ error: { code: 'Closed', stepId: 'shipping' } });
    expect(app.log.alerts('fault')).toEqual([]);
  }, 90_000);

  it('still calls an operator when the undo fails (R37, R45)', async () => {
    const closed = { status: 400, code: 'Closed' };
    app.remote.script({ orderId: 'stuck', service: 'inventory', operation: 'reservations', disturbance: closed });
    app.remote.script({ orderId: 'stuck', service: 'payment', operation: 'refunds', disturbance: closed });
    await submit(app, 'stuck');
    const end = { as: 'CompensationFailed', reason: 'UndoIncomplete', effectsLeft: ['payment'], patience } as const;
    await expectFailed(app, 'stuck', end);
    expect(app.log.alerts('stuck')).toEqual(['order-needs-operator']);
  }, 90_000);

  it('processes a good order with all its steps', async () => {
    await submit(app, 'good');
    await expectProcessed(app, 'good', { patience, steps: ['payment', 'inventory', 'shipping', 'invoice'] });
  }, 90_000);
});
