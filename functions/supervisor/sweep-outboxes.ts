/** Sends statuses that a crash, or a queue that did not take them, has left in the outbox of a finished order (T53). */
import { addMs } from '../contracts/timestamp.js';
import { sweepOutbox } from '../status/apply-transition.js';
import { countPage, guardedSweep } from './supervisor-run.js';
import type { SupervisorRun, SweepDeps } from './supervisor-run.js';

const scanName = 'unsent';

/**
 * Goes over what waits, the oldest first, at least one page a run. An application whose queue does not take its statuses is
 * passed over for the rest of the run; when passing it over costs all that a run may, the next one goes on behind it (T55, T60).
 * An order whose outbox cannot be written does not keep the others from it.
 */
export async function sweepOutboxes(run: SupervisorRun, deps: SweepDeps): Promise<void> {
  const { policy, store, clock, memory } = deps;
  const from = memory.stoppedAt.get(scanName);
  const since = addMs(clock.now(), -policy.graceMs);
  const unreachable = new Set<string>();
  for await (const page of store.pageUnsent({ since, pageSize: policy.pageSize, ...(from && { from }) })) {
    countPage(page, run, deps);
    for (const seen of page.records) {
      const { application } = seen.record;
      if (unreachable.has(application)) continue;
      await guardedSweep(`${scanName} of ${seen.record.orderId}`, { run, telemetry: deps.telemetry }, async () => {
        const { outbox } = await sweepOutbox(deps, seen);
        if (outbox.length === 0) run.statusesSwept += 1;
        else unreachable.add(application);
      });
    }
    const isFull = run.statusesSwept >= policy.maxPerRun || run.requestCharge >= policy.maxRequestCharge;
    if (!isFull) continue;
    if (page.last !== undefined) memory.stoppedAt.set(scanName, page.last);
    return;
  }
  memory.stoppedAt.delete(scanName);
}
