/** Counts what the host did; read through the door. */
export interface Counters {
  add(name: string): void;
  all(): Record<string, number>;
}

/** Creates counters that all stand at zero. */
export function createCounters(): Counters {
  const counts = new Map<string, number>();
  return {
    add: (name) => counts.set(name, (counts.get(name) ?? 0) + 1),
    all: () => Object.fromEntries(counts),
  };
}
