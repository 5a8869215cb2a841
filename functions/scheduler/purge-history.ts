/**
 * Finished attempts leave the runtime after a while: histories are for looking back, the record holds what counts.
 *
 * Invariants
 * PH1 A call to the runtime purges about an hour of attempts: a call for many more times out and removes nothing.
 * PH2 A run is bounded in time and goes on where the last one stopped. What a run misses, a later one purges: each call takes
 *     everything that has finished and was started before the end of its hour.
 */
import { z } from 'zod';
import { addMs, earlier, msBetween, timestampSchema } from '../contracts/timestamp.js';
import type { Timestamp } from '../contracts/timestamp.js';
import { TransientError } from '../state/errors.js';
import type { Clock, JobMemory, Orchestrations, Telemetry } from '../state/ports.js';

/** What the purge needs. */
export interface PurgeDeps {
  readonly orchestrations: Orchestrations;
  readonly jobs: JobMemory;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly retentionDays: number;
}

const jobName = 'history-purge';

/** All attempts that were started before this time and had finished by then are purged. */
const purgeMemorySchema = z.object({ purgedBefore: timestampSchema });

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** A run starts no further call after this time; shorter than the shortest time a function may take, five minutes. */
const maxRunMs = 3 * minuteMs;

/** A call that fails is repeated for half the time, down to this. */
const smallestStepMs = minuteMs;

/** Purges the attempts that were started before the retention and have finished, the oldest first. */
export async function purgeHistory(deps: PurgeDeps): Promise<void> {
  const { clock, jobs, telemetry, retentionDays } = deps;
  const until = addMs(clock.now(), -retentionDays * dayMs);
  const memory = await jobs.read(jobName, purgeMemorySchema);
  const from = memory?.purgedBefore ?? addMs(until, -dayMs);
  const { purged, purgedBefore } = await purgeBetween(from, until, deps);
  if (purgedBefore !== from) await jobs.write(jobName, { purgedBefore });
  const isBehind = msBetween(purgedBefore, until) > dayMs;
  telemetry.event('history-purged', { purged, purgedBefore, isBehind });
}

async function purgeBetween(
  from: Timestamp,
  until: Timestamp,
  { clock, orchestrations }: PurgeDeps,
): Promise<{ readonly purged: number; readonly purgedBefore: Timestamp }> {
  const startedAt = clock.now();
  let purged = 0;
  let purgedBefore = from;
  let stepMs = hourMs;
  while (purgedBefore < until && stepMs >= smallestStepMs && msBetween(startedAt, clock.now()) < maxRunMs) {
    const end = earlier(addMs(purgedBefore, stepMs), until);
    try {
      purged += await orchestrations.purgeFinished(end);
      purgedBefore = end;
    } catch (error) {
      if (!(error instanceof TransientError)) throw error;
      stepMs /= 2;
    }
  }
  return { purged, purgedBefore };
}
