import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/app-eventually.js';
import { expectFailed, expectProcessed } from '../support/app-expect.js';
import { showRecord, submit, untilStatuses } from '../support/app-orders.js';
import { aMinuteAgo, oldRecord, plant, storedDocument } from '../support/app-records.js';
import { startApp } from '../support/app-stack.js';
import type { App } from '../support/app-stack.js';

describe.concurrent('step 6: supervision', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({ STEP_DEADLINE_MS: '2500', START_BY_MS: '1000' });
  });
  afterAll(() => app.stop());

  const ticks = (): number => app.log.events('supervisor-run').length;
  const afterTicks = async (count: number): Promise<void> => {
    const before = ticks();
    await eventually(async () => {
      await app.invoke('supervisor');
      expect(ticks()).toBeGreaterThanOrEqual(before + count);
    });
  };

  it('gives an order whose agent is silent another attempt, with the same key and a higher token', async () => {
    app.remote.script({ orderId: 'silent', service: 'payment', disturbance: 'silence', times: 2 });
    await submit(app, 'silent');
    const record = await expectProcessed(app, 'silent');
    expect(record).toMatchObject({ attempt: 2, failureCount: 1, lockedBy: 'silent.2' });
    const charges = app.remote.calls('silent').filter(({ operation }) => operation === 'charges');
    expect(charges.map(({ key, token }) => `${key} ${token}`)).toEqual([
      'silent.payment 1',
      'silent.payment 1',
      'silent.payment 2',
    ]);
    expect(app.log.alerts('silent')).toEqual([]);
  });

  it('does not repeat the steps that are done (T84)', async () => {
    app.remote.script({ orderId: 'half-done', service: 'shipping', disturbance: 'silence', times: 2 });
    await submit(app, 'half-done');
    expect(await expectProcessed(app, 'half-done')).toMatchObject({ attempt: 2 });
    const services = app.remote.calls('half-done').map(({ service }) => service);
    expect(services).toEqual(['payment', 'inventory', 'shipping', 'shipping', 'shipping']);
  });

  it('gives an order up after the last attempt, alerts once, and leaves it to the operator (R111, C52)', async () => {
    app.remote.script({ orderId: 'given-up', service: 'payment', disturbance: 'silence' });
    const steps = oldRecord('given-up').steps.map((step, index) => ({ ...step, failureCount: index === 0 ? 1 : 0 }));
    await plant(app, 'given-up', oldRecord('given-up', { attempt: 1, failureCount: 1, steps }));
    const record = await expectFailed(app, 'given-up', { as: 'Error', reason: 'Failed' });
    expect(record).toMatchObject({ attempt: 3, failureCount: 3, error: { code: 'AttemptsExhausted' } });
    await afterTicks(3);
    expect(await showRecord(app, 'given-up')).toEqual(record);
    expect(app.log.alerts('given-up')).toEqual(['order-needs-operator']);
    expect(app.log.events('attempt-expired', 'given-up')).toHaveLength(2);
  });

  it('finds a claimed order that no orchestration runs, also one without a deadline (C2, T1)', async () => {
    const claim = { processState: 'Processing', attempt: 1, updatedAt: aMinuteAgo() } as const;
    await plant(app, 'orphan', oldRecord('orphan', { ...claim, lockedBy: 'orphan.1', completeBy: aMinuteAgo() }));
    await plant(app, 'no-deadline', oldRecord('no-deadline', { ...claim, lockedBy: 'no-deadline.1' }));
    const withoutField = { ...oldRecord('no-field', { ...claim, lockedBy: 'no-field.1' }), completeBy: undefined };
    await plant(app, 'no-field', withoutField);
    for (const orderId of ['orphan', 'no-deadline', 'no-field']) {
      expect(await expectProcessed(app, orderId)).toMatchObject({ attempt: 2, failureCount: 0 });
    }
  });

  it('finds an order that expired long before the window of its queries (T59)', async () => {
    const longAgo = '2020-02-02T02:02:02.000Z';
    const claim = { processState: 'Processing', attempt: 1, lockedBy: 'long-ago.1', completeBy: longAgo } as const;
    await plant(app, 'long-ago', oldRecord('long-ago', claim));
    expect(await expectProcessed(app, 'long-ago')).toMatchObject({ attempt: 2, failureCount: 0 });
  });

  it('leaves an attempt alone until its time is up', async () => {
    const completeBy = new Date(Date.now() + 3_600_000).toISOString();
    const claim = { processState: 'Processing', attempt: 1, lockedBy: 'in-time.1', completeBy } as const;
    await plant(app, 'in-time', oldRecord('in-time', claim));
    await afterTicks(2);
    expect(await showRecord(app, 'in-time')).toMatchObject({ lockedBy: 'in-time.1', failureCount: 0 });
  });

  it('sends a status that a crash left in the outbox of a finished order (T53)', async () => {
    const outbox = [{ seq: 1, kind: 'OrderReceived', at: aMinuteAgo(), reason: null } as const];
    const fields = { processState: 'Processed', attempt: 1, outboxSeq: 1, outboxSince: aMinuteAgo() } as const;
    await plant(app, 'unsent', oldRecord('unsent', { ...fields, outbox }));
    await untilStatuses(app, 'unsent', ['OrderReceived']);
    await eventually(async () => {
      expect((await showRecord(app, 'unsent')).outbox).toEqual([]);
    });
    await afterTicks(2);
    await untilStatuses(app, 'unsent', ['OrderReceived']);
  });

  it('reports records that no query can find or read, and changes nothing (C11, C12, C42)', async () => {
    const oddities: Readonly<Record<string, object>> = {
      'time-with-offset': { completeBy: '2026-01-01T09:00:00+09:00' },
      'time-without-milliseconds': { completeBy: '2026-01-01T00:00:00Z' },
      'time-as-number': { completeBy: 1_767_225_600_000 },
      'time-without-separators': { completeBy: '20260101T000000Z' },
      'lower-case-state': { processState: 'processing' },
      'empty-state': { processState: '' },
      'no-state': { processState: undefined },
      'empty-owner': { lockedBy: '' },
      'no-due-time': { processState: 'Pending', lockedBy: null, notBefore: null },
      'unknown-priority': { processState: 'Pending', lockedBy: null, priority: 'urgent' },
    };
    const orderIds = Object.keys(oddities);
    for (const orderId of orderIds) {
      const claim = {
        processState: 'Processing',
        attempt: 1,
        lockedBy: `${orderId}.1`,
        completeBy: aMinuteAgo(),
      } as const;
      await plant(app, orderId, { ...oldRecord(orderId, claim), ...oddities[orderId] });
    }
    const planted = await Promise.all(orderIds.map((orderId) => storedDocument(app, 'order-state', orderId)));
    await eventually(async () => {
      await app.invoke('supervisor-audit');
      expect(app.log.alerted('record-malformed')).toEqual(expect.arrayContaining(orderIds));
    });
    await afterTicks(2);
    const left = await Promise.all(orderIds.map((orderId) => storedDocument(app, 'order-state', orderId)));
    expect(left).toEqual(planted);
  });

  it('leaves a record of a newer build alone and says so (T41, C61)', async () => {
    await plant(app, 'newer', { ...oldRecord('newer'), schemaVersion: 99 });
    const planted = await storedDocument(app, 'order-state', 'newer');
    await app.invoke('supervisor-audit');
    await eventually(() => {
      expect(app.log.alerted('record-newer')).toContain('newer');
    });
    await submit(app, 'newer'); // The same order once more needs nothing.
    await eventually(() => {
      expect(app.log.events('order-duplicate', 'newer')).toHaveLength(1);
    });
    await afterTicks(2);
    expect(await storedDocument(app, 'order-state', 'newer')).toEqual(planted);
  });
});
