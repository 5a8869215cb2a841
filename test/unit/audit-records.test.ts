import { beforeEach, describe, expect, it } from 'vitest';
import { auditRecords } from '../../functions/supervisor/audit-records.js';
import type { TransitionDeps } from '../../functions/status/apply-transition.js';
import { claimed } from '../support/builders.js';
import { createManualClock } from '../support/manual-clock.js';
import { createMemoryStateDatabase, createMemoryStateStore } from '../support/memory-stores.js';
import type { MemoryStateDatabase } from '../support/memory-stores.js';
import { createRecordingSender, createRecordingTelemetry } from '../support/recording.js';

let database: MemoryStateDatabase;
let telemetry: ReturnType<typeof createRecordingTelemetry>;
let deps: TransitionDeps;

beforeEach(() => {
  database = createMemoryStateDatabase();
  telemetry = createRecordingTelemetry();
  const store = createMemoryStateStore(database);
  deps = { store, clock: createManualClock(), sender: createRecordingSender(), telemetry };
});

describe('the audit', () => {
  it('names every document that no due date brings up (C11, C12, C42, C61)', async () => {
    const strange: readonly Readonly<Record<string, unknown>>[] = [
      { processState: 'processing' },
      { processState: undefined },
      { completeBy: 1767225600000 },
      { completeBy: '20260101T000000Z' },
      { lockedBy: '' },
    ];
    for (const [index, fields] of strange.entries()) database.put({ ...claimed(), id: `bad-${index}`, ...fields });
    database.put(claimed());
    expect(await auditRecords(deps, { pageSize: 2, maxPerRun: 100 })).toBe(strange.length);
    expect(telemetry.alerts).toHaveLength(strange.length);
    expect(telemetry.count('audit-run')).toBe(1);
  });

  it('is bounded, and the next run goes on where it stopped', async () => {
    for (let number = 0; number < 10; number += 1)
      database.put({ ...claimed(), id: `many-${number}`, processState: 'x' });
    for (const alerts of [4, 8, 10]) {
      await auditRecords(deps, { pageSize: 2, maxPerRun: 4 });
      expect(telemetry.alerts).toHaveLength(alerts);
    }
  });
});
