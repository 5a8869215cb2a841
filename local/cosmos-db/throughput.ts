/** A token bucket of request units a second for each container: checked before an operation, charged after it. */

export interface Throughput {
  /** Milliseconds to wait; 0 when the operation may go on. */
  retryAfterMs(container: string, now: number): number;
  charge(container: string, charge: number): void;
}

interface Bucket {
  /** May be negative: an operation is let in as long as anything is left. */
  units: number;
  filledAt: number;
}

/** Limits every container to so many request units a second; without a limit everything passes. */
export function createThroughput(unitsPerSecond: number | undefined): Throughput {
  if (unitsPerSecond === undefined) return { retryAfterMs: () => 0, charge: () => undefined };
  const buckets = new Map<string, Bucket>();
  const bucketOf = (container: string, now: number): Bucket => {
    const known = buckets.get(container);
    if (known !== undefined) return known;
    const bucket = { units: unitsPerSecond, filledAt: now };
    buckets.set(container, bucket);
    return bucket;
  };
  return {
    retryAfterMs(container, now) {
      const bucket = bucketOf(container, now);
      const gained = (Math.max(0, now - bucket.filledAt) / 1000) * unitsPerSecond;
      bucket.units = Math.min(unitsPerSecond, bucket.units + gained);
      bucket.filledAt = now;
      return bucket.units > 0 ? 0 : Math.max(1, Math.ceil((-bucket.units / unitsPerSecond) * 1000));
    },
    charge(container, charge) {
      const bucket = buckets.get(container);
      if (bucket !== undefined) bucket.units -= charge;
    },
  };
}
