/** One run of the starter: how much may run, then start it, then say so. */
import { msBetween } from '../contracts/timestamp.js';
import type { Timestamp } from '../contracts/timestamp.js';
import { refreshAdmission } from './refresh-admission.js';
import type { AdmissionDeps } from './refresh-admission.js';
import { startPending } from './start-pending.js';
import type { StarterDeps } from './start-pending.js';

/** When this process last said that it runs. */
export interface StarterHeartbeat {
  at: Timestamp | undefined;
}

/** An idle starter runs each second or ten: it says so only now and then, but its silence is an alert (T7, C52). */
const heartbeatMs = 60_000;

/** Runs the starter once; `maxInFlight` orders may be in progress. */
export async function runStarter(
  { admission, starter, maxInFlight }: { admission: AdmissionDeps; starter: StarterDeps; maxInFlight: number },
  heartbeat: StarterHeartbeat,
): Promise<void> {
  const { mode, pending, inFlight } = await refreshAdmission(admission);
  const run = await startPending(maxInFlight - inFlight, starter);
  const now = starter.clock.now();
  const hasNews = run.oldestPendingMs > 0 || mode !== 'open';
  const isSilent = heartbeat.at === undefined || msBetween(heartbeat.at, now) >= heartbeatMs;
  if (!hasNews && !isSilent) return;
  starter.telemetry.event('starter-run', { ...run, admission: mode, pending, inFlight });
  heartbeat.at = now;
}
