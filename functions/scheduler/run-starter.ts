/** One run of the starter: how much may run, then start it, then report it. */
import { z } from 'zod';
import { msBetween, timestampSchema } from '../contracts/timestamp.js';
import { roomToBegin } from '../state/admission.js';
import type { Admission } from '../state/admission.js';
import type { JobMemory } from '../state/ports.js';
import { refreshAdmission } from './refresh-admission.js';
import type { AdmissionDeps } from './refresh-admission.js';
import { startPending } from './start-pending.js';
import type { StarterDeps, StarterRun } from './start-pending.js';

/** What a run of the starter needs. */
export interface StarterTimerDeps {
  readonly admission: AdmissionDeps;
  readonly starter: StarterDeps;
  readonly jobs: JobMemory;
  /** How many orders may be in progress. */
  readonly maxInFlight: number;
}

/** An idle starter runs each second or ten: it reports that only now and then, but its silence is an alert. */
const heartbeatMs = 60_000;

const jobName = 'starter';

/** What the starter remembers from run to run, whichever process runs it. */
const memorySchema = z.object({ reportedAt: timestampSchema.nullable(), owedToNormal: z.number().min(0).lt(1) });

/** Runs the starter once. */
export async function runStarter({ admission, starter, jobs, maxInFlight }: StarterTimerDeps): Promise<void> {
  const load = await refreshAdmission(admission);
  const memory = (await jobs.read(jobName, memorySchema)) ?? { reportedAt: null, owedToNormal: 0 };
  const debt = { toNormal: memory.owedToNormal };
  const maxPerRun = Math.min(starter.policy.maxPerRun, roomToBegin(load, { maxInFlight }));
  const policy = { ...starter.policy, maxPerRun };
  const run = await startPending(maxInFlight - load.inFlight, { ...starter, debt, policy });
  const now = starter.clock.now();
  const isReportDue = memory.reportedAt === null || msBetween(memory.reportedAt, now) >= heartbeatMs;
  if (hasNews(run, load) || isReportDue) report(run, load, starter);
  const hasChanged = isReportDue || debt.toNormal !== memory.owedToNormal;
  if (!hasChanged) return;
  await jobs.write(jobName, { reportedAt: isReportDue ? now : memory.reportedAt, owedToNormal: debt.toNormal });
}

function hasNews(run: StarterRun, { mode }: Admission): boolean {
  return run.oldestPendingMs > 0 || mode !== 'open';
}

function report(run: StarterRun, { mode, pending, inFlight, notBegun }: Admission, { telemetry }: StarterDeps): void {
  telemetry.event('starter-run', { ...run, admission: mode, pending, inFlight, notBegun });
}
