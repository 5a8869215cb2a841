/** A map that remembers a bounded number of entries and forgets the least recently set. */
export interface RecentMap<Value> {
  get(key: string): Value | undefined;
  /** Remembers and answers the value. */
  set(key: string, value: Value): Value;
  delete(key: string): void;
}

/** Creates a map of at most `capacity` entries. */
export function createRecentMap<Value>(capacity: number): RecentMap<Value> {
  const entries = new Map<string, Value>();
  return {
    get: (key) => entries.get(key),
    set: (key, value) => {
      entries.delete(key);
      entries.set(key, value);
      const oldest = entries.size > capacity ? entries.keys().next().value : undefined;
      if (oldest !== undefined) entries.delete(oldest);
      return value;
    },
    delete: (key) => {
      entries.delete(key);
    },
  };
}
