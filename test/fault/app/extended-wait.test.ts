import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StateRecord } from '../../../functions/state/state-record.js';
import { expectFailed, expectProcessed } from '../../support/app-expect.js';
import { submit, untilRecord } from '../../support/app-orders.js';
import { startApp } from '../../support/app-stack.js';
import type { App } from '../../support/app-stack.js';

const ordinaryAttempts = 2;
const extendedWaitMs = 3_000;
const settings = { MAX_FAILURES: String(ordinaryAttempts), STEP_DEADLINE_MS: '2500' };
const patience = { withinMs: 40_000 };
const withoutEnd = 60_000;

/** The remote service answers no call for the order, until it is released. */
const unwell = (app: App, orderId: string, service: string): void => {
  app.remote.script({ orderId, service, disturbance: 'hold' });
};

const untilOrdinaryAttemptsEnd = (app: App, orderId: string): Promise<StateRecord> =>
  untilRecord(app, orderId, ({ failureCount }) => failureCount === ordinaryAttempts, patience);

/** How long the order waited between the end of each attempt and the next claim, in milliseconds. */
function waitsOf({ history }: StateRecord): readonly number[] {
  return history.flatMap(({ actor, at }, index) => {
    const claim = history[index + 1];
    return actor === 'supervisor' && claim?.actor === 'starter' ? [Date.parse(claim.at) - Date.parse(at)] : [];
  });
}

/** Of each of these waits, whether it was an extended one. */
const extended = (record: StateRecord): readonly boolean[] => waitsOf(record).map((waitMs) => waitMs >= extendedWaitMs);

const tokens = (app: App, orderId: string, service: string): readonly number[] =>
  app.remote.calls(orderId).flatMap((call) => (call.service === service ? [call.token] : []));

describe.concurrent('the extended wait', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({ ...settings, EXTENDED_RETRIES: '1', EXTENDED_WAIT_MS: String(extendedWaitMs) });
  });
  afterAll(() => app.stop());

  it(
    'after the last ordinary attempt lets a remote service finish the order that is well again by then (R34)',
    async () => {
      unwell(app, 'late', 'payment');
      await submit(app, 'late');
      const waiting = await untilOrdinaryAttemptsEnd(app, 'late');
      expect(waiting).toMatchObject({ processState: 'Pending', lockedBy: null, error: null });
      expect(Date.parse(waiting.notBefore) - Date.parse(waiting.updatedAt)).toBeGreaterThanOrEqual(extendedWaitMs);

      app.remote.release('late');
      const record = await expectProcessed(app, 'late', { patience });
      expect(record).toMatchObject({ attempt: 3, failureCount: 2 });
      expect(extended(record)).toEqual([false, true]);
      expect(app.log.alerts('late')).toEqual([]);
    },
    withoutEnd,
  );

  it(
    'is taken once: an order that fails again is given up (R34, R111)',
    async () => {
      unwell(app, 'hopeless', 'payment');
      await submit(app, 'hopeless');
      const record = await expectFailed(app, 'hopeless', { as: 'Error', reason: 'Failed', patience });
      expect(record).toMatchObject({ attempt: 3, failureCount: 3, error: { code: 'AttemptsExhausted' } });
      expect(extended(record)).toEqual([false, true]);
      expect([...new Set(tokens(app, 'hopeless', 'payment'))]).toEqual([1, 2, 3]);
      expect(app.log.alerts('hopeless')).toEqual(['order-needs-operator']);
    },
    withoutEnd,
  );

  it(
    'can also bring a late no: what was done before is undone (R34)',
    async () => {
      unwell(app, 'late-no', 'shipping');
      await submit(app, 'late-no');
      await untilOrdinaryAttemptsEnd(app, 'late-no');
      app.remote.release('late-no');
      const disturbance = { status: 422, code: 'NoCarrier' };
      app.remote.script({ orderId: 'late-no', service: 'shipping', operation: 'shipments', disturbance });
      const record = await expectFailed(app, 'late-no', { as: 'Compensated', reason: 'Refused', patience });
      expect(record).toMatchObject({ failureCount: 2 });
      expect(extended(record)).toEqual([false, true]);
    },
    withoutEnd,
  );
});

describe('without the extended wait', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({ ...settings, EXTENDED_WAIT_MS: String(extendedWaitMs) });
  });
  afterAll(() => app.stop());

  it(
    'an order is given up after its last ordinary attempt (R34)',
    async () => {
      unwell(app, 'ordinary', 'payment');
      await submit(app, 'ordinary');
      const record = await expectFailed(app, 'ordinary', { as: 'Error', reason: 'Failed', patience });
      expect(record).toMatchObject({ attempt: 2, failureCount: 2, error: { code: 'AttemptsExhausted' } });
      expect(extended(record)).toEqual([false]);
    },
    withoutEnd,
  );
});
