import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { FaultRule } from '../../../local/faults/index.js';
import { expectOneEffectEach, expectProcessed } from '../../support/app-expect.js';
import { submit, untilRecord } from '../../support/app-orders.js';
import { startApp } from '../../support/app-stack.js';
import type { App } from '../../support/app-stack.js';

const withMargin = { withinMs: 40_000 };

describe("an application's status queue", () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({ STEP_DEADLINE_MS: '30000' });
  });
  afterEach(() => app.stack.setFaults('service-bus'));
  afterAll(() => app.stop());

  it.each([
    ['is missing', { action: 'refuse', error: 'amqp:not-found' }],
    ['is forbidden', { action: 'refuse', error: 'amqp:unauthorized-access' }],
    ['is full', { action: 'refuse', error: 'amqp:resource-limit-exceeded' }],
    ['does not answer', { action: 'pause' }],
  ] as const)(
    'that %s blocks no order; what waits is sent once it is back (T55, C24)',
    async (name, fault) => {
      const orderId = name.replaceAll(' ', '-');
      const rule: FaultRule = { operation: 'send', entity: 'status-web-shop', ...fault };
      await app.stack.setFaults('service-bus', { seed: 1, rules: [rule] });
      await submit(app, orderId);
      await submit(app, `${orderId}-other`, { application: 'mobile-app' });
      const other = await expectProcessed(app, `${orderId}-other`, { patience: withMargin });
      expect(other.attempt).toBe(1);

      const record = await untilRecord(app, orderId, ({ processState }) => processState === 'Processed', withMargin);
      expect(record).toMatchObject({ attempt: 1, failureCount: 0 });
      expect(record.outbox.map(({ kind }) => kind)).toEqual(['OrderReceived', 'OrderCompleted']);
      expectOneEffectEach(app, orderId, ['payment', 'inventory', 'shipping']);
      expect(app.statuses['web-shop'].of(orderId)).toEqual([]);

      await app.stack.setFaults('service-bus');
      await expectProcessed(app, orderId, { patience: withMargin });
      expect(app.log.events('status-undeliverable', orderId)).not.toEqual([]);
    },
    90_000,
  );
});
