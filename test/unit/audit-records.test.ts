import { beforeEach, describe, expect, it } from 'vitest';
import { addMs } from '../../functions/contracts/timestamp.js';
import { TransientError } from '../../functions/state/errors.js';
import { auditRecords } from '../../functions/supervisor/audit-records.js';
import type { AuditDeps } from '../../functions/supervisor/audit-records.js';
import { claimed } from '../support/builders.js';
import { createManualClock } from '../support/manual-clock.js';
import type { ManualClock } from '../support/manual-clock.js';
import { createMemoryJobs } from '../support/memory-jobs.js';
import { createMemoryStateDatabase, createMemoryStateStore } from '../support/memory-stores.js';
import type { MemoryStateDatabase } from '../support/memory-stores.js';
import { createRecordingTelemetry } from '../support/recording.js';

let clock: ManualClock;
let database: MemoryStateDatabase;
let telemetry: ReturnType<typeof createRecordingTelemetry>;
let deps: AuditDeps;
let documents = 0;

beforeEach(() => {
  clock = createManualClock();
  database = createMemoryStateDatabase(clock);
  telemetry = createRecordingTelemetry();
  const policy = { pageSize: 2, maxPerRun: 100, maxRequestCharge: 1_000 };
  deps = { store: createMemoryStateStore(database), jobs: createMemoryJobs(), clock, telemetry, policy };
});

/** Stores a document under an id that no other test has: a process reports each id once. */
function putDocument(kind: 'good' | 'bad'): void {
  documents += 1;
  const id = `audited-${documents}`;
  database.put({ ...claimed(), id, orderId: id, ...(kind === 'bad' ? { processState: 'x' } : {}) });
}

/** Stores documents, one per minute. */
function putEachMinute(kinds: readonly ('good' | 'bad')[]): void {
  for (const kind of kinds) {
    putDocument(kind);
    clock.advance(60_000);
  }
}

const times = <Item>(count: number, item: Item): readonly Item[] => Array.from({ length: count }, () => item);
const lastReport = () => telemetry.events.filter(({ name }) => name === 'audit-run').at(-1)?.fields;

describe('the audit', () => {
  it('names every document that no due date brings up (C11, C12, C42, C61)', async () => {
    const strange: readonly Readonly<Record<string, unknown>>[] = [
      { processState: 'processing' },
      { processState: undefined },
      { completeBy: 1767225600000 },
      { completeBy: '20260101T000000Z' },
      { lockedBy: '' },
      { steps: [] },
    ];
    for (const [index, fields] of strange.entries()) database.put({ ...claimed(), id: `bad-${index}`, ...fields });
    database.put(claimed());
    await auditRecords(deps);
    expect(lastReport()).toMatchObject({ found: strange.length, isBehind: false });
    expect(telemetry.alerts).toHaveLength(strange.length);
  });

  it('reads only what has changed since the last run, whichever process runs it (R106)', async () => {
    putEachMinute(times(50, 'good'));
    await auditRecords(deps);
    clock.advance(3_600_000);
    putEachMinute(['bad', 'good']);
    await auditRecords({ ...deps, store: createMemoryStateStore(database) });
    expect(lastReport()).toMatchObject({ found: 1, requestCharge: 2 });
  });

  it('stops when it has cost enough, and the next run goes on there (R106, R107)', async () => {
    putEachMinute(times(20, 'bad'));
    const poor = { ...deps, policy: { ...deps.policy, maxRequestCharge: 3 } };
    for (const alerts of [6, 10, 15, 20]) {
      await auditRecords(poor);
      expect(lastReport()?.['requestCharge']).toBeLessThanOrEqual(3);
      expect(telemetry.alerts.length).toBeGreaterThanOrEqual(alerts);
    }
  });

  it('stops after many reports, and the next run goes on there', async () => {
    putEachMinute(times(10, 'bad'));
    for (const alerts of [4, 8, 10]) {
      await auditRecords({ ...deps, policy: { ...deps.policy, maxPerRun: 4 } });
      expect(telemetry.alerts.length).toBeGreaterThanOrEqual(alerts);
    }
  });

  it('gets past many documents that were written in the same second', async () => {
    for (const kind of times(20, 'good' as const)) putDocument(kind);
    clock.advance(60_000);
    putEachMinute(['bad']);
    const poor = { ...deps, policy: { ...deps.policy, maxRequestCharge: 1 } };
    for (let count = 0; count < 3; count += 1) await auditRecords(poor);
    expect(lastReport()).toMatchObject({ found: 1 });
  });

  it('keeps its place when a page cannot be read, and still reports itself', async () => {
    putEachMinute(times(6, 'bad'));
    const { store } = deps;
    const failing = {
      pageChanged: async function* (since: string, pageSize: number) {
        for await (const page of store.pageChanged(since, pageSize)) {
          yield page;
          throw new TransientError('429');
        }
      },
    };
    await expect(auditRecords({ ...deps, store: failing })).rejects.toBeInstanceOf(TransientError);
    expect(telemetry.count('audit-run')).toBe(1);
    const { requestCharge: first } = { requestCharge: Number(lastReport()?.['requestCharge']) };
    await auditRecords(deps);
    expect(first + Number(lastReport()?.['requestCharge'])).toBeLessThanOrEqual(4);
    expect(telemetry.alerts).toHaveLength(6);
  });

  it('reports that it does not keep up when it is a day behind', async () => {
    putEachMinute(times(4, 'good'));
    clock.advance(2 * 86_400_000);
    await auditRecords({ ...deps, policy: { ...deps.policy, maxRequestCharge: 1 } });
    expect(lastReport()).toMatchObject({ isBehind: true });
    await auditRecords(deps);
    expect(lastReport()).toMatchObject({ isBehind: false, auditedUntil: addMs(clock.now(), -60_000) });
  });
});
