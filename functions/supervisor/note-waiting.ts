/** A look at what waits for the starter: the starter may be what is dead, or have no room to look itself (T7). */
import { msBetween } from '../contracts/timestamp.js';
import type { ProcessState } from '../state/state-record.js';
import { countPage } from './supervisor-run.js';
import type { SupervisorDeps, SupervisorRun } from './supervisor-run.js';

/** The order that has waited longest comes first; several are read, so that one unreadable document does not hide it. */
const glance = 10;

const waitingStates: readonly ProcessState[] = ['Pending', 'Compensating'];

/** Notes how long the oldest waiting order has been due, and names it once it should have been started. */
export async function noteWaiting(run: SupervisorRun, deps: SupervisorDeps): Promise<void> {
  const { store, clock, policy, telemetry } = deps;
  const now = clock.now();
  for (const state of waitingStates) {
    for await (const page of store.pagePending({ state, notBefore: now, pageSize: glance })) {
      countPage(page, run, deps);
      const oldest = page.records[0]?.record;
      if (oldest === undefined) break;
      const waitingMs = msBetween(oldest.notBefore, now);
      run.oldestPendingMs = Math.max(run.oldestPendingMs, waitingMs);
      if (waitingMs > policy.startByMs) telemetry.event('start-overdue', { orderId: oldest.orderId, state, waitingMs });
      break;
    }
  }
}
