import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agentLimits } from '../../../functions/agents/remote-guards.js';
import { eventually } from '../../support/app-eventually.js';
import { expectProcessed } from '../../support/app-expect.js';
import { submit } from '../../support/app-orders.js';
import { startApp } from '../../support/app-stack.js';
import type { App } from '../../support/app-stack.js';

const patience = { withinMs: 60_000 };

describe('a remote service that hangs for some orders', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({ STEP_DEADLINE_MS: '120000', BREAKER_FAILURES: '5' });
  });
  afterAll(() => app.stop());

  it.each([
    ['payment', agentLimits.queue.calls],
    ['inventory', agentLimits.activity.calls],
  ])(
    'at %s lets other orders pass while calls hang in all of its places but one (R62)',
    async (service, places) => {
      const hanging = Array.from({ length: places - 1 }, (_, index) => `${service}-hangs-${index}`);
      for (const orderId of hanging) app.remote.script({ orderId, service, disturbance: 'hold', times: 1 });
      await Promise.all(hanging.map((orderId) => submit(app, orderId)));
      await eventually(() => {
        const held = hanging.filter((orderId) => app.remote.calls(orderId).some((call) => call.service === service));
        expect(held).toHaveLength(hanging.length);
      }, patience);

      const others = [0, 1, 2].map((index) => `${service}-passes-${index}`);
      await Promise.all(others.map((orderId) => submit(app, orderId)));
      for (const orderId of others) {
        expect(await expectProcessed(app, orderId, { patience })).toMatchObject({ attempt: 1, failureCount: 0 });
      }
      expect(app.log.events('agent-silent')).toEqual([]); // All the others hang still.

      for (const orderId of hanging) app.remote.release(orderId);
      for (const orderId of hanging) {
        expect(await expectProcessed(app, orderId, { patience })).toMatchObject({ attempt: 1, failureCount: 0 });
      }
    },
    180_000,
  );
});

describe('a remote service that hangs for every second order', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({ STEP_DEADLINE_MS: '20000', BREAKER_FAILURES: '5', BREAKER_OPEN_MS: '1000' });
  });
  afterAll(() => app.stop());

  it('costs no other order a failure: all of them are processed (R62, T67)', async () => {
    const numbers = Array.from({ length: 60 }, (_, index) => index);
    for (const number of numbers) {
      app.remote.script({ orderId: `hangs-${number}`, service: 'payment', disturbance: 'silence' });
    }
    await Promise.all(numbers.flatMap((number) => [submit(app, `hangs-${number}`), submit(app, `passes-${number}`)]));
    for (const number of numbers) {
      const patient = { patience: { withinMs: 150_000 } };
      expect(await expectProcessed(app, `passes-${number}`, patient)).toMatchObject({ failureCount: 0 });
    }
  }, 240_000);
});
