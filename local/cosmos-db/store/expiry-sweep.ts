/** Removes expired documents for good, so that they do not fill memory and the journal. Readers hide them at once. */
import type { Container } from './container.js';
import type { Change } from './records.js';
import type { Store } from './store.js';

const SWEEP_MS = 60_000;
/** A sweep never holds up requests for long. */
const MAX_PER_SWEEP = 10_000;

function removalsOf(container: Container, now: number): readonly Change[] {
  const removals: Change[] = [];
  for (const { id, partitionKey, expiresAt } of container.documents()) {
    if (expiresAt > now) continue;
    removals.push({ kind: 'remove', id, partitionKey, lsn: container.counters.takeLsn() });
    if (removals.length === MAX_PER_SWEEP) break;
  }
  return removals;
}

/** Removes what has expired by now. */
export function sweepExpired(store: Store, now: number): void {
  for (const { containers } of store.databases.values()) {
    for (const container of containers.values()) {
      if (container.definition.defaultTtl === undefined) continue;
      const removals = removalsOf(container, now);
      if (removals.length > 0) store.apply(container, removals);
    }
  }
}

/** Sweeps from time to time until the returned function is called. */
export function startSweeping(store: Store): () => void {
  const timer = setInterval(() => {
    sweepExpired(store, Date.now());
  }, SWEEP_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
  };
}
