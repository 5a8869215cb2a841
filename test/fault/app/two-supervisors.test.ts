import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectProcessed } from '../../support/app-expect.js';
import { aMinuteAgo, oldRecord, plant } from '../../support/app-records.js';
import { untilRecord } from '../../support/app-orders.js';
import { startSecondHost } from '../../support/app-second-host.js';
import type { SecondHost } from '../../support/app-second-host.js';
import { startApp } from '../../support/app-stack.js';
import type { App } from '../../support/app-stack.js';

const never = '0 0 0 1 1 *';

describe('two supervisors', () => {
  let app: App;
  let second: SecondHost;
  beforeAll(async () => {
    app = await startApp({ SUPERVISOR_SCHEDULE: never });
    second = await startSecondHost(app, ['supervisor']);
  });
  afterAll(async () => {
    await second.stop();
    await app.stop();
  });

  it('recover each order once: one new attempt is made (R39, C15)', async () => {
    const orderIds = Array.from({ length: 12 }, (_, index) => `order-${index}`);
    for (const orderId of orderIds) {
      const claim = {
        processState: 'Processing',
        attempt: 1,
        lockedBy: `${orderId}.1`,
        completeBy: aMinuteAgo(),
      } as const;
      await plant(app, orderId, oldRecord(orderId, claim));
    }
    const runs = ['supervisor', 'supervisor', 'supervisor'];
    await Promise.all(runs.flatMap((name) => [app.invoke(name), second.invoke(name)]));
    for (const orderId of orderIds) {
      const record = await expectProcessed(app, orderId);
      expect(record).toMatchObject({ failureCount: 0, attempt: 2 });
      expect(record.history.filter(({ actor }) => actor === 'supervisor')).toHaveLength(1);
    }
  });

  it('change nothing in an order that goes on or is finished while they look (T35, T36)', async () => {
    const finished = { processState: 'Processed', attempt: 1, lockedBy: 'finished.1', completeBy: null } as const;
    await plant(app, 'finished', oldRecord('finished', { ...finished, outbox: [], outboxSince: null }));
    const before = await untilRecord(app, 'finished', () => true);
    await Promise.all([app.invoke('supervisor'), second.invoke('supervisor')]);
    await app.invoke('supervisor');
    expect(await untilRecord(app, 'finished', () => true)).toEqual(before);
  });
});
