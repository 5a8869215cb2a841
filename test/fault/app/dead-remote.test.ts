import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectFailed } from '../../support/app-expect.js';
import { submit } from '../../support/app-orders.js';
import { startApp } from '../../support/app-stack.js';
import type { App } from '../../support/app-stack.js';

const maxCallsPerStep = 12;
const patience = { withinMs: 40_000 };

const services = ['payment', 'inventory', 'shipping'];
const deaths = [
  { name: 'answers nothing but 503', disturbance: { status: 503, code: 'Unavailable' } },
  { name: 'never answers', disturbance: 'silence' },
] as const;

const cases = services.flatMap((service) => deaths.map((death) => ({ service, ...death })));

describe.concurrent('a remote service that is dead', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp(
      { STEP_DEADLINE_MS: '2000', MAX_FAILURES: '3', MAX_CALLS_PER_STEP: String(maxCallsPerStep) },
      { lockDuration: 'PT5S' },
    );
  });
  afterAll(() => app.stop());

  it.each(cases)(
    '$service $name: it gets no more calls than the budget of the order allows (R50, T70)',
    async ({ service, disturbance }) => {
      const orderId = `dead-${service}-${typeof disturbance}`;
      app.remote.script({ orderId, service, disturbance });
      await submit(app, orderId);
      const effectsLeft = services.slice(0, services.indexOf(service));
      const { budget, failureCount } = await expectFailed(app, orderId, {
        as: 'Error',
        reason: 'Failed',
        effectsLeft,
        patience,
      });
      expect(failureCount).toBe(3);
      const calls = app.remote.calls(orderId);
      const toTheDead = calls.filter((call) => call.service === service).length;
      expect(toTheDead).toBeGreaterThan(0);
      expect(toTheDead).toBeLessThanOrEqual(maxCallsPerStep);
      expect(calls.length).toBeLessThanOrEqual(budget.spent);
      expect(budget.spent).toBeLessThanOrEqual(budget.allowed);
    },
    60_000,
  );

  it.each(deaths)(
    'when an order is to be undone $name: it gets no more calls than one step may cause (R50, T70)',
    async ({ disturbance }) => {
      const orderId = `dead-undo-${typeof disturbance}`;
      const declined = { status: 422, code: 'Declined' };
      app.remote.script({ orderId, service: 'inventory', operation: 'reservations', disturbance: declined });
      app.remote.script({ orderId, service: 'payment', operation: 'refunds', disturbance });
      await submit(app, orderId);
      const { error } = await expectFailed(app, orderId, {
        as: 'CompensationFailed',
        reason: 'UndoIncomplete',
        effectsLeft: ['payment'],
        patience,
      });
      expect(error).toMatchObject({ code: 'UndoAttemptsExhausted' });
      const refunds = app.remote.calls(orderId).filter(({ operation }) => operation === 'refunds').length;
      expect(refunds).toBeGreaterThan(0);
      expect(refunds).toBeLessThanOrEqual(maxCallsPerStep);
    },
    60_000,
  );
});
