/** What an account can promise of its reads. */

/** The levels, the weakest first. */
export const CONSISTENCY_LEVELS = ['Eventual', 'ConsistentPrefix', 'Session', 'BoundedStaleness', 'Strong'] as const;

export type ConsistencyLevel = (typeof CONSISTENCY_LEVELS)[number];

export function isConsistencyLevel(name: unknown): name is ConsistencyLevel {
  return CONSISTENCY_LEVELS.some((level) => level === name);
}

export function isStronger(one: ConsistencyLevel, other: ConsistencyLevel): boolean {
  return CONSISTENCY_LEVELS.indexOf(one) > CONSISTENCY_LEVELS.indexOf(other);
}

/** In one region both read from two replicas, of which one has every acknowledged write. */
export function seesEveryWrite(level: ConsistencyLevel): boolean {
  return level === 'Strong' || level === 'BoundedStaleness';
}
