/** The operations that faults and counters name. */

/** Operations that change items. */
export const ITEM_WRITES = ['create', 'replace', 'upsert', 'patch', 'delete', 'batch'] as const;

/** Operations that draw on a container's throughput. */
export const ITEM_OPERATIONS = [...ITEM_WRITES, 'read', 'query'] as const;

export const OPERATIONS = [
  ...ITEM_OPERATIONS,
  'queryPlan',
  'account',
  'database',
  'container',
  'partitionRanges',
] as const;

export type Operation = (typeof OPERATIONS)[number];
