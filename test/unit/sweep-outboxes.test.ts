import { beforeEach, describe, expect, it } from 'vitest';
import { addMs } from '../../functions/contracts/timestamp.js';
import { PermanentError } from '../../functions/state/errors.js';
import type { StateRecord } from '../../functions/state/state-record.js';
import { recoverExpired } from '../../functions/supervisor/recover-expired.js';
import { failedRecord, processedRecord } from '../support/builders.js';
import { startOfTime } from '../support/manual-clock.js';
import { createSupervisorWorld, now, policy } from '../support/supervisor-world.js';

let { database, deps, run, sender, telemetry } = createSupervisorWorld();

beforeEach(() => {
  ({ database, deps, run, sender, telemetry } = createSupervisorWorld());
});

describe('statuses that a crash has left', () => {
  const unsent = (orderId: string, record: StateRecord, application = 'web-shop'): void => {
    database.put({ ...record, id: orderId, orderId, application });
  };

  it('are sent and removed (T53)', async () => {
    unsent('A-1', processedRecord());
    expect(await run()).toMatchObject({ statusesSwept: 1 });
    expect(sender.queued('status-web-shop').map(({ messageId }) => messageId)).toEqual(['A-1.1', 'A-1.2']);
    expect(database.record('A-1')).toMatchObject({ outbox: [], outboxSince: null });
    expect(await run()).toMatchObject({ statusesSwept: 0 });
  });

  it('bring the alert that may have been lost with them', async () => {
    unsent('A-1', failedRecord());
    await run();
    await run();
    expect(telemetry.count('order-needs-operator')).toBe(1);
  });

  it('of an application whose queue is gone do not keep the others waiting (T55, T60)', async () => {
    sender.fail('permanent', (queue) => queue === 'status-gone');
    for (let number = 0; number < 10; number += 1) unsent(`gone-${number}`, processedRecord(), 'gone');
    unsent('A-1', processedRecord());
    expect(await run()).toMatchObject({ statusesSwept: 1 });
    expect(sender.queued('status-web-shop')).toHaveLength(2);
    expect(telemetry.count('status-undeliverable')).toBe(1);
  });

  it('of an order whose record cannot be written keep neither the others nor the report of the run waiting', async () => {
    for (const orderId of ['A-1', 'A-2', 'A-3']) unsent(orderId, processedRecord());
    const { store } = deps;
    const failing = {
      ...store,
      replaceIfUnchanged: (record: StateRecord, etag: string) =>
        record.orderId === 'A-2'
          ? Promise.reject(new PermanentError('Cosmos413', 'too large'))
          : store.replaceIfUnchanged(record, etag),
    };
    expect(await recoverExpired({ ...deps, store: failing })).toMatchObject({ statusesSwept: 2, sweepsFailed: 1 });
    expect(telemetry.count('supervisor-run')).toBe(1);
  });

  it('reach past more orders of such an application than a run takes', async () => {
    sender.fail('permanent', (queue) => queue === 'status-gone');
    for (let number = 0; number < 10; number += 1) unsent(`gone-${number}`, processedRecord(), 'gone');
    unsent('A-1', processedRecord());
    expect(await run({ maxPerRun: 3 })).toMatchObject({ statusesSwept: 1 });
  });

  it('are swept in a bounded number (V1)', async () => {
    for (let number = 0; number < 10; number += 1) unsent(`A-${number}`, processedRecord());
    expect(await run({ maxPerRun: 4 })).toMatchObject({ statusesSwept: 6 });
    expect(await run({ maxPerRun: 4 })).toMatchObject({ statusesSwept: 4 });
  });

  it('of an application whose queue is gone keep nobody waiting when passing them over costs a whole run (T55, T60)', async () => {
    sender.fail('permanent', (queue) => queue === 'status-gone');
    for (let number = 0; number < 10; number += 1) {
      unsent(`gone-${number}`, { ...processedRecord(), outboxSince: addMs(startOfTime, number) }, 'gone');
    }
    unsent('A-1', { ...processedRecord(), outboxSince: addMs(startOfTime, 1_000) });
    for (let count = 0; count < 6; count += 1) await run({ maxRequestCharge: 1 });
    expect(sender.queued('status-web-shop')).toHaveLength(2);
    sender.fail(undefined);
    for (let count = 0; count < 6; count += 1) await run({ maxRequestCharge: 1 });
    expect(sender.queued('status-gone')).toHaveLength(20);
  });

  it('are left to the next run when this one has cost enough, but for one page (R107)', async () => {
    for (let number = 0; number < 10; number += 1) unsent(`A-${number}`, processedRecord());
    expect(await run({ maxRequestCharge: 0.1, pageSize: 4 })).toMatchObject({ statusesSwept: 4 });
  });

  it('so young that their sender may still be at it are left to him', async () => {
    unsent('A-1', { ...processedRecord(), outboxSince: addMs(now, -policy.graceMs) });
    expect(await run()).toMatchObject({ statusesSwept: 0 });
  });
});
