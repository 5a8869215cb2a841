/** Finished attempts leave the runtime after a while: histories are for looking back, the record holds what counts (C103). */
import { addMs } from '../contracts/timestamp.js';
import type { Clock, Orchestrations, Telemetry } from '../state/ports.js';

/** What the purge needs. */
export interface PurgeDeps {
  readonly orchestrations: Orchestrations;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly retentionDays: number;
}

const dayMs = 86_400_000;

/** One run looks this far back beyond the retention, so that missed runs are made up for. */
const lookBackDays = 30;

/** Purges the attempts that were started before the retention and have finished. */
export async function purgeHistory({ orchestrations, clock, telemetry, retentionDays }: PurgeDeps): Promise<void> {
  const before = addMs(clock.now(), -retentionDays * dayMs);
  const purged = await orchestrations.purgeFinished(addMs(before, -lookBackDays * dayMs), before);
  telemetry.event('history-purged', { purged });
}
