import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../support/app-eventually.js';
import { expectProcessed } from '../../support/app-expect.js';
import { showRecord, submit, untilRecord } from '../../support/app-orders.js';
import { startApp } from '../../support/app-stack.js';
import type { App } from '../../support/app-stack.js';

describe('a reply after the deadline', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({ STEP_DEADLINE_MS: '4000' });
  });
  afterEach(() => app.stack.setFaults('service-bus'));
  afterAll(() => app.stop());

  const eventsRaised = async (): Promise<number> => (await app.stack.counters('functions-host'))['events.raised'] ?? 0;

  /** The host dies, and its order's deadline passes before it comes back. */
  const downUntilDeadline = async (orderId: string): Promise<void> => {
    const { completeBy } = await showRecord(app, orderId);
    await app.stack.kill('functions-host');
    await eventually(() => {
      expect(Date.now()).toBeGreaterThan(Date.parse(completeBy ?? ''));
    });
  };

  it('of an earlier attempt changes nothing for the present one, and is no alert (C10, R16)', async () => {
    const rules = [{ operation: 'send', entity: 'payment-replies', action: 'pause', times: 1 } as const];
    await app.stack.setFaults('service-bus', { seed: 1, rules });
    await submit(app, 'late');
    await eventually(() => {
      expect(app.remote.done('late')).toEqual(['payment/charges']);
    });
    app.remote.script({ orderId: 'late', service: 'payment', disturbance: 'hold' });
    const second = await untilRecord(app, 'late', ({ steps }) => steps[0]?.requestId === 'late.2.payment');
    await eventually(() => {
      expect(app.remote.calls('late').map(({ token }) => token)).toEqual([1, 2]);
    });

    await app.stack.setFaults('service-bus');
    await eventually(() => {
      expect(app.log.events('reply-late', 'late')).toMatchObject([{ attempt: 1, stepId: 'payment' }]);
    });
    expect(await showRecord(app, 'late')).toEqual(second);
    app.remote.release('late');
    expect(await expectProcessed(app, 'late')).toMatchObject({ attempt: 2, failureCount: 1 });
    expect(app.log.alerts('late')).toEqual([]);
  });

  it('that waits in its queue until the deadline has passed, because the host was down, is a timeout (W2, T14)', async () => {
    const rules = [{ operation: 'deliver', entity: 'payment-replies', action: 'pause' } as const];
    await app.stack.setFaults('service-bus', { seed: 1, rules });
    await submit(app, 'in-queue');
    await eventually(() => {
      expect(app.remote.done('in-queue')).toEqual(['payment/charges']);
    });
    await downUntilDeadline('in-queue');
    await app.stack.setFaults('service-bus');
    await app.stack.restart('functions-host');
    expect(await expectProcessed(app, 'in-queue')).toMatchObject({ attempt: 2, failureCount: 1 });
  });

  it('but was received in time counts, although the host was down when it was to be read (W2, T14)', async () => {
    const rules = [{ operation: 'turn', entity: 'orderOrchestrator', action: 'pause', skip: 2 } as const];
    await app.stack.setFaults('functions-host', { seed: 1, rules }); // The turn that would read the reply.
    const raisedBefore = await eventsRaised();
    await submit(app, 'outage');
    await eventually(async () => {
      expect(await eventsRaised()).toBe(raisedBefore + 1);
    });
    await downUntilDeadline('outage');
    await app.stack.setFaults('functions-host');
    await app.stack.restart('functions-host');
    expect(await expectProcessed(app, 'outage')).toMatchObject({ attempt: 1, failureCount: 0 });
    expect(app.remote.calls('outage').map(({ service, token }) => `${service} ${token}`)).toEqual([
      'payment 1',
      'inventory 1',
      'shipping 1',
    ]);
  });
});
