import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectFailed } from '../support/app-expect.js';
import { submit } from '../support/app-orders.js';
import { startApp } from '../support/app-stack.js';
import type { App } from '../support/app-stack.js';

const declined = { status: 422, code: 'Declined' };
const unavailable = { status: 503, code: 'Unavailable' };
const impossible = { status: 400, code: 'Impossible' };

describe.concurrent('an order that is refused', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({ STEP_DEADLINE_MS: '2500' });
  });
  afterAll(() => app.stop());

  it('at its first step has nothing to undo', async () => {
    app.remote.script({ orderId: 'declined', service: 'payment', disturbance: declined });
    await submit(app, 'declined');
    const record = await expectFailed(app, 'declined', { as: 'Compensated', reason: 'Refused' });
    expect(record).toMatchObject({ failureCount: 0, error: { code: 'Declined', stepId: 'payment' } });
    expect(app.remote.done('declined')).toEqual([]);
    expect(app.log.alerts('declined')).toEqual([]);
  });

  it('at its last step is undone in reverse order, under a higher token than anything before (R44, T75)', async () => {
    app.remote.script({ orderId: 'no-carrier', service: 'shipping', disturbance: declined });
    await submit(app, 'no-carrier');
    const record = await expectFailed(app, 'no-carrier', { as: 'Compensated', reason: 'Refused' });
    expect(app.remote.done('no-carrier')).toEqual([
      'payment/charges',
      'inventory/reservations',
      'inventory/releases',
      'payment/refunds',
    ]);
    const tokens = app.remote.calls('no-carrier').map(({ operation, token }) => `${operation} ${token}`);
    expect(tokens.slice(-2)).toEqual(['releases 2', 'refunds 2']);
    expect(record.compensation.map(({ stepId, state }) => `${stepId} ${state}`)).toEqual([
      'payment Done',
      'inventory Done',
      'shipping Skipped',
    ]);
  });

  it('after a request of unknown outcome has that step undone too (T71, U1)', async () => {
    app.remote.script({ orderId: 'unsure', service: 'shipping', disturbance: 'silenceAfterEffect', times: 1 });
    app.remote.script({ orderId: 'unsure', service: 'shipping', operation: 'shipments', disturbance: declined });
    await submit(app, 'unsure');
    await expectFailed(app, 'unsure', { as: 'Compensated', reason: 'Refused' });
    expect(app.remote.done('unsure').slice(2)).toEqual([
      'shipping/shipments',
      'shipping/cancellations',
      'inventory/releases',
      'payment/refunds',
    ]);
  });

  it.each([
    ['payment', 'charges', ['payment/refunds']],
    ['inventory', 'reservations', ['inventory/releases', 'payment/refunds']],
    ['shipping', 'shipments', ['shipping/cancellations', 'inventory/releases', 'payment/refunds']],
  ])(
    'at %s after the same request has already done it, without an answer, has that step undone too (A4, T71)',
    async (service, operation, undone) => {
      const orderId = `charged-${service}`;
      app.remote.script({ orderId, service, operation, disturbance: 'unavailableAfterEffect', times: 1 });
      app.remote.script({ orderId, service, operation, disturbance: declined });
      await submit(app, orderId);
      const record = await expectFailed(app, orderId, { as: 'Compensated', reason: 'Refused' });
      expect(record).toMatchObject({ failureCount: 0, error: { code: 'Declined', stepId: service } });
      expect(record.compensation.at(-1)).toMatchObject({ stepId: service, state: 'Done', uncertain: true });
      expect(app.remote.done(orderId).slice(-undone.length)).toEqual(undone);
    },
  );

  it('by an agent of this app has that step undone too, as the runtime may have run the agent before (A4)', async () => {
    app.remote.script({ orderId: 'no-stock', service: 'inventory', operation: 'reservations', disturbance: declined });
    await submit(app, 'no-stock');
    await expectFailed(app, 'no-stock', { as: 'Compensated', reason: 'Refused' });
    expect(app.remote.done('no-stock')).toEqual(['payment/charges', 'inventory/releases', 'payment/refunds']);
  });

  it('whose undo is not answered has it repeated until it is (T74)', async () => {
    app.remote.script({ orderId: 'slow-undo', service: 'inventory', operation: 'reservations', disturbance: declined });
    app.remote.script({
      orderId: 'slow-undo',
      service: 'payment',
      operation: 'refunds',
      disturbance: 'silence',
      times: 2,
    });
    await submit(app, 'slow-undo');
    const record = await expectFailed(app, 'slow-undo', { as: 'Compensated', reason: 'Refused' });
    expect(record).toMatchObject({ compensationFailureCount: 1, failureCount: 0 });
    expect(app.remote.done('slow-undo')).toEqual(['payment/charges', 'inventory/releases', 'payment/refunds']);
  });

  it('whose undo is done but not acknowledged is undone once (R57)', async () => {
    app.remote.script({ orderId: 'lost-undo', service: 'inventory', operation: 'reservations', disturbance: declined });
    app.remote.script({
      orderId: 'lost-undo',
      service: 'payment',
      operation: 'refunds',
      disturbance: 'silenceAfterEffect',
      times: 1,
    });
    await submit(app, 'lost-undo');
    await expectFailed(app, 'lost-undo', { as: 'Compensated', reason: 'Refused' });
    expect(app.remote.done('lost-undo')).toEqual(['payment/charges', 'inventory/releases', 'payment/refunds']);
  });

  it('whose one undo is impossible has the others undone, and waits for an operator (C51, T76, T77)', async () => {
    app.remote.script({ orderId: 'stuck', service: 'shipping', disturbance: declined });
    app.remote.script({ orderId: 'stuck', service: 'inventory', operation: 'releases', disturbance: impossible });
    await submit(app, 'stuck');
    const record = await expectFailed(app, 'stuck', {
      as: 'CompensationFailed',
      reason: 'UndoIncomplete',
      effectsLeft: ['inventory'],
    });
    expect(record.compensation.map(({ stepId, state }) => `${stepId} ${state}`)).toEqual([
      'payment Done',
      'inventory Failed',
      'shipping Skipped',
    ]);
    expect(app.log.alerts('stuck')).toEqual(['order-needs-operator']);
  });

  it('has its undo tried again by the agent within its allowance', async () => {
    app.remote.script({ orderId: 'again', service: 'inventory', operation: 'reservations', disturbance: declined });
    app.remote.script({
      orderId: 'again',
      service: 'payment',
      operation: 'refunds',
      disturbance: unavailable,
      times: 1,
    });
    await submit(app, 'again');
    const record = await expectFailed(app, 'again', { as: 'Compensated', reason: 'Refused' });
    expect(record).toMatchObject({ compensationFailureCount: 0 });
  });
});
