/** Counts what happened, by queue and in all; read from outside by tests and benchmarks. */

/** Numbers since the start, as `<queue>.<event>`, and `<event>` for the sum over all queues. */
export interface Counters {
  add(scope: string, event: string, count?: number): void;
  read(): Record<string, number>;
}

/** Starts at zero. */
export function createCounters(): Counters {
  const scopes = new Map<string, Map<string, number>>();
  return {
    add(scope, event, count = 1) {
      const events = scopes.get(scope) ?? new Map<string, number>();
      if (events.size === 0) scopes.set(scope, events);
      events.set(event, (events.get(event) ?? 0) + count);
    },
    read() {
      const totals: Record<string, number> = {};
      for (const [scope, events] of scopes) {
        for (const [event, count] of events) {
          totals[event] = (totals[event] ?? 0) + count;
          if (scope !== '') totals[`${scope}.${event}`] = count;
        }
      }
      return totals;
    },
  };
}
