import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { FaultAction } from '../../../local/faults/index.js';
import { expectProcessed } from '../../support/app-expect.js';
import { submit } from '../../support/app-orders.js';
import { startApp } from '../../support/app-stack.js';
import type { App } from '../../support/app-stack.js';

describe('an agent that dies', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({ STEP_DEADLINE_MS: '2000' });
  });
  afterEach(async () => {
    await app.stack.setFaults('functions-host');
    await app.stack.setFaults('service-bus');
  });
  afterAll(() => app.stop());

  const inHost = (operation: string, entity: string, action: FaultAction): Promise<void> =>
    app.stack.setFaults('functions-host', { seed: 1, rules: [{ operation, entity, action, times: 1 }] });
  const tokens = (orderId: string, service: string): readonly number[] =>
    app.remote.calls(orderId).flatMap((call) => (call.service === service ? [call.token] : []));

  it('with its request: the next attempt sends another one, which the broker does not take for a repeat (C1)', async () => {
    await inHost('invoke', 'payment-agent', 'drop');
    await submit(app, 'before-call');
    expect(await expectProcessed(app, 'before-call')).toMatchObject({ attempt: 2, failureCount: 1 });
    expect(tokens('before-call', 'payment')).toEqual([2]);
    expect((await app.stack.counters('service-bus'))['payment-requests.duplicates'] ?? 0).toBe(0);
  });

  it('and leaves its request: another agent serves it in the same attempt', async () => {
    await inHost('invoke', 'shipping-agent', 'cutBeforeCommit');
    await submit(app, 'redelivered');
    expect(await expectProcessed(app, 'redelivered')).toMatchObject({ attempt: 1, failureCount: 0 });
    expect(tokens('redelivered', 'shipping')).toEqual([1]);
  });

  it('after its reply, before it has settled the request: the step is done once', async () => {
    await inHost('invoke', 'payment-agent', 'cutAfterCommit');
    await submit(app, 'after-reply');
    expect(await expectProcessed(app, 'after-reply')).toMatchObject({ attempt: 1, failureCount: 0 });
  });

  it('after the effect, without a reply: the next attempt finds it done (R57)', async () => {
    const rules = [{ operation: 'send', entity: 'payment-replies', action: 'drop', times: 1 } as const];
    await app.stack.setFaults('service-bus', { seed: 1, rules });
    await submit(app, 'after-effect');
    expect(await expectProcessed(app, 'after-effect')).toMatchObject({ attempt: 2, failureCount: 1 });
    expect(tokens('after-effect', 'payment')).toEqual([1, 2]);
  });

  it('as an activity of the app is a timeout like any other (R27)', async () => {
    await inHost('activity', 'inventory', 'drop');
    await submit(app, 'activity');
    expect(await expectProcessed(app, 'activity')).toMatchObject({ attempt: 2, failureCount: 1 });
    expect(tokens('activity', 'inventory')).toEqual([2]);
  });
});
