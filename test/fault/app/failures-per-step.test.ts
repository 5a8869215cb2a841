import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectFailed, expectProcessed } from '../../support/app-expect.js';
import { submit } from '../../support/app-orders.js';
import { startApp } from '../../support/app-stack.js';
import type { App } from '../../support/app-stack.js';

const patience = { withinMs: 60_000 };
const steps = ['payment', 'inventory', 'shipping'];

describe.concurrent('failures of different steps', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({ MAX_FAILURES: '3', STEP_DEADLINE_MS: '2500' });
  });
  afterAll(() => app.stop());

  /** Both calls of a request get no answer, so many requests long. */
  const silent = (orderId: string, service: string, requests: number): void => {
    app.remote.script({ orderId, service, disturbance: 'silence', times: 2 * requests });
  };

  it('do not add up: an order whose three steps each fail once is processed (R32)', async () => {
    for (const step of steps) silent('unlucky', step, 1);
    await submit(app, 'unlucky');
    const record = await expectProcessed(app, 'unlucky', { patience });
    expect(record).toMatchObject({ attempt: 4, failureCount: 3 });
    expect(record.steps.map(({ failureCount }) => failureCount)).toEqual([1, 1, 1]);
    expect(app.log.alerts('unlucky')).toEqual([]);
  }, 90_000);

  it('count for the step that failed: three of one give the order up (R32, R33)', async () => {
    silent('hopeless', 'shipping', 3);
    await submit(app, 'hopeless');
    const end = { as: 'Error', reason: 'Failed', effectsLeft: ['payment', 'inventory'], patience } as const;
    const record = await expectFailed(app, 'hopeless', end);
    expect(record).toMatchObject({ failureCount: 3, error: { code: 'AttemptsExhausted', stepId: 'shipping' } });
    expect(record.steps.map(({ failureCount }) => failureCount)).toEqual([0, 0, 3]);
  }, 90_000);
});
