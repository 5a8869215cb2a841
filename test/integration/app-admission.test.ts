import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StatusMessage } from '../../functions/contracts/status-message.js';
import { eventually } from '../support/app-eventually.js';
import { expectProcessed } from '../support/app-expect.js';
import { submit, untilRecord } from '../support/app-orders.js';
import { storedDocument } from '../support/app-records.js';
import { startApp } from '../support/app-stack.js';
import type { App } from '../support/app-stack.js';
import { orderMessage } from '../support/builders.js';

const maxInFlight = 2;
const highWater = 6;

describe('admission', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({
      MAX_IN_FLIGHT: String(maxInFlight),
      INTAKE_HIGH_WATER: String(highWater),
      INTAKE_LOW_WATER: '2',
      BUSY_RETRY_AFTER_MS: '1500',
    });
  });
  afterAll(() => app.stop());

  const hold = async (orderId: string): Promise<void> => {
    app.remote.script({ orderId, service: 'payment', disturbance: 'hold' });
    await submit(app, orderId);
    await untilRecord(app, orderId, ({ steps }) => steps[0]?.state === 'Running');
  };
  const untilMode = async (mode: string): Promise<void> => {
    await eventually(async () => {
      const { resource } = await app.database
        .container('control')
        .item('admission', 'admission')
        .read<{ mode: string }>();
      expect(resource?.mode).toBe(mode);
    });
  };
  const busy = (orderId: string): Promise<StatusMessage> =>
    eventually(() => {
      const found = app.statuses['web-shop'].of(orderId).filter(({ status }) => status === 'OrderRejected');
      expect(found).toHaveLength(1);
      return found[0] as StatusMessage;
    });

  it('lets no more orders run than allowed, and high priority first (R51, R63)', async () => {
    await untilMode('open');
    await hold('running-1');
    await hold('running-2');
    await untilMode('throttled');
    await submit(app, 'normal');
    await submit(app, 'urgent', { priority: 'high' });
    await untilRecord(app, 'urgent', ({ processState }) => processState === 'Pending');
    const runsBefore = app.log.events('starter-run').length;
    await eventually(() => {
      expect(app.log.events('starter-run').length).toBeGreaterThan(runsBefore + 1);
    });
    expect(app.remote.calls('normal')).toEqual([]);
    expect(app.remote.calls('urgent')).toEqual([]);

    app.remote.script({ orderId: 'urgent', service: 'payment', disturbance: 'hold' });
    app.remote.release('running-1');
    await untilRecord(app, 'urgent', ({ steps }) => steps[0]?.state === 'Running');
    expect(await untilRecord(app, 'normal', () => true)).toMatchObject({ processState: 'Pending', attempt: 0 });
    app.remote.release('running-2');
    app.remote.release('urgent');
    for (const orderId of ['running-1', 'running-2', 'urgent', 'normal']) await expectProcessed(app, orderId);
  });

  it('turns orders away above the high-water mark, and takes them again below the low one (T52)', async () => {
    await untilMode('open');
    await hold('long-1');
    await hold('long-2');
    const waiting = Array.from({ length: highWater }, (_, index) => `waiting-${index}`);
    for (const orderId of waiting) await submit(app, orderId);
    await untilMode('closed');
    await eventually(async () => {
      await app.send('orders', { body: orderMessage({ orderId: 'turned-away' }) });
      expect(app.statuses['web-shop'].of('turned-away')).not.toEqual([]);
    });
    const { seq, reason, retryAfterMs } = app.statuses['web-shop'].of('turned-away')[0] as StatusMessage;
    expect({ seq, code: reason?.code, retryAfterMs }).toEqual({ seq: 0, code: 'Busy', retryAfterMs: 1500 });
    expect(app.orderDeadLetters.messages).toEqual([]);

    app.remote.release('long-1');
    app.remote.release('long-2');
    for (const orderId of ['long-1', 'long-2', ...waiting]) await expectProcessed(app, orderId);
    await untilMode('open');
    await submit(app, 'taken-again');
    await expectProcessed(app, 'taken-again');
  });

  it('turns new orders away while an operator pauses it, and not those that are stored', async () => {
    await untilMode('open');
    await hold('before-pause');
    expect((await app.fetch('intake/pause', { method: 'POST', body: { reason: 'a test' } })).status).toBe(200);
    await untilMode('closed');
    await eventually(() => {
      expect(app.log.events('intake-changed').at(-1)).toMatchObject({ mode: 'closed' });
    });
    const refreshed = app.log.events('order-duplicate', 'before-pause').length;
    await app.send('orders', { body: orderMessage({ orderId: 'before-pause' }), messageId: 'before-pause.again' });
    await eventually(() => {
      expect(app.log.events('order-duplicate', 'before-pause')).toHaveLength(refreshed + 1);
    });
    await submit(app, 'paused');
    expect(await busy('paused')).toMatchObject({ reason: { code: 'Busy' }, retryAfterMs: 1500 });
    expect(await storedDocument(app, 'orders', 'paused')).toBeUndefined();
    app.remote.release('before-pause');
    await expectProcessed(app, 'before-pause');

    expect((await app.fetch('intake/resume', { method: 'POST', body: { reason: 'a test' } })).status).toBe(200);
    await untilMode('open');
    await eventually(async () => {
      await app.send('orders', { body: orderMessage({ orderId: 'paused' }) });
      expect(await storedDocument(app, 'orders', 'paused')).toBeDefined();
    });
    await untilRecord(app, 'paused', ({ processState }) => processState === 'Processed');
  });
});
