import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/app-eventually.js';
import { expectProcessed } from '../support/app-expect.js';
import { showRecord, submit } from '../support/app-orders.js';
import { startApp } from '../support/app-stack.js';
import type { App } from '../support/app-stack.js';

const withMargin = { withinMs: 40_000 };

describe('a supervisor with a recovery index, which scans all records once an hour', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({
      RECOVERY_INDEX_ENABLED: 'true',
      RECOVERY_SCAN_EVERY_MINUTES: '60',
      STEP_DEADLINE_MS: '2500',
      'AzureWebJobs.supervisor-hint.Disabled': 'true',
    });
    await eventually(() => {
      expect(app.log.events('supervisor-run')).not.toEqual([]); // The first run of all scans.
    });
  });
  afterAll(() => app.stop());

  it('finds an expired attempt by the index (R108)', async () => {
    app.remote.script({ orderId: 'noted', service: 'payment', disturbance: 'silence', times: 2 });
    await submit(app, 'noted');
    expect(await expectProcessed(app, 'noted', { patience: withMargin })).toMatchObject({
      attempt: 2,
      failureCount: 1,
    });
  });

  it('finds one whose note was lost by the scan (T69)', async () => {
    const rules = [{ operation: 'upsert', entity: 'recovery-index', action: 'drop' } as const];
    await app.stack.setFaults('cosmos-db', { seed: 1, rules });
    app.remote.script({ orderId: 'not-noted', service: 'payment', disturbance: 'silence', times: 2 });
    await submit(app, 'not-noted');
    await eventually(() => {
      expect(app.remote.calls('not-noted')).toHaveLength(1);
    });
    const { completeBy } = await showRecord(app, 'not-noted');
    const runsAfterExpiry = (): number => {
      const expired = new Date(Date.parse(completeBy ?? '') + 1_000).toISOString();
      const lines = app.log.lines.filter((line) => line.includes('"event":"supervisor-run"'));
      return lines.filter((line) => (/\[(\d{4}-[^\]]*)\]/.exec(line)?.[1] ?? '') > expired).length;
    };
    await eventually(() => {
      expect(runsAfterExpiry()).toBeGreaterThanOrEqual(2);
    });
    expect(await showRecord(app, 'not-noted')).toMatchObject({ attempt: 1, failureCount: 0 });

    const hourAgo = { id: 'job-supervisor', scannedAt: '2026-01-01T00:00:00.000Z', stoppedAt: {} };
    await app.database.container('control').items.upsert(hourAgo); // Now a scan is due.
    const record = await expectProcessed(app, 'not-noted', { patience: withMargin });
    expect(record).toMatchObject({ attempt: 2, failureCount: 1 });
  });
});
