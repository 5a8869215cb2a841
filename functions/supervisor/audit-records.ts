/**
 * The audit reads every record once after each change and reports what this build can't read: documents that no due date
 * ever brings up, as an unknown state or a time in another form.
 *
 * Invariants
 * AU1 A run is bounded: it stops after `maxRequestCharge` RU or `maxPerRun` new reports, and the next one goes on there.
 * AU2 A run that has read everything leaves a minute to be read again: a write may become visible late.
 */
import { z } from 'zod';
import { addMs, msBetween, timestampSchema } from '../contracts/timestamp.js';
import type { Timestamp } from '../contracts/timestamp.js';
import type { Clock, JobMemory, StateStore, Telemetry } from '../state/ports.js';
import { alertUnreadable } from '../status/alert-unreadable.js';

/** What the audit needs. */
export interface AuditDeps {
  readonly store: Pick<StateStore, 'pageChanged'>;
  readonly jobs: JobMemory;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly policy: { readonly pageSize: number; readonly maxPerRun: number; readonly maxRequestCharge: number };
}

const jobName = 'audit';
const auditMemorySchema = z.object({ auditedUntil: timestampSchema });

const beginning: Timestamp = '1970-01-01T00:00:00.000Z';
const overlapMs = 60_000;

/** More than this behind: the limits of a run do not keep up with the writes. */
const behindMs = 86_400_000;

/** Reads what has changed since the last run, and reports it once. */
export async function auditRecords(deps: AuditDeps): Promise<void> {
  const { jobs, clock, telemetry } = deps;
  const startedAt = clock.now();
  const from = (await jobs.read(jobName, auditMemorySchema))?.auditedUntil ?? beginning;
  const run = { found: 0, requestCharge: 0, auditedUntil: from };
  try {
    const isComplete = await readChanges(run, deps);
    if (isComplete) run.auditedUntil = later(from, addMs(startedAt, -overlapMs)); // AU2
  } finally {
    if (run.auditedUntil !== from) await jobs.write(jobName, { auditedUntil: run.auditedUntil });
    telemetry.event('audit-run', { ...run, isBehind: msBetween(run.auditedUntil, startedAt) > behindMs });
  }
}

/** Returns false if a limit ended it; then `run.auditedUntil` is where the next run begins (AU1). */
async function readChanges(
  run: { found: number; requestCharge: number; auditedUntil: Timestamp },
  { store, telemetry, policy }: AuditDeps,
): Promise<boolean> {
  const { auditedUntil: from } = run;
  let reported = 0;
  for await (const page of store.pageChanged(from, policy.pageSize)) {
    reported += alertUnreadable(page, telemetry);
    run.found += page.unreadable.length;
    run.requestCharge += page.requestCharge;
    run.auditedUntil = page.last ?? run.auditedUntil;
    const isFull = run.requestCharge >= policy.maxRequestCharge || reported >= policy.maxPerRun;
    if (isFull && run.auditedUntil > from) return false;
  }
  return true;
}

function later(one: Timestamp, other: Timestamp): Timestamp {
  return one > other ? one : other;
}
