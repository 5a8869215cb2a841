/**
 * The *modelled* request charge. Reads and writes interpolate the published size tables; every other coefficient is a
 * guess of the right shape. Good for comparing designs and for throttling, never for a bill.
 */

/** [KB, RU] of a point read. */
const READ: readonly (readonly [number, number])[] = [
  [1, 1],
  [2, 1.04],
  [4, 1.14],
  [8, 1.33],
  [16, 1.67],
  [32, 2.19],
  [64, 4.76],
  [128, 9.95],
  [256, 20.28],
  [512, 40.95],
  [1024, 145.9],
  [2048, 291.8],
];

/** [KB, RU] of a create or delete. */
const WRITE: readonly (readonly [number, number])[] = [
  [1, 4.95],
  [2, 6.29],
  [4, 6.67],
  [8, 7.04],
  [16, 9.52],
  [32, 11.23],
  [64, 22.67],
  [128, 48.19],
  [256, 98.29],
  [512, 184.57],
  [1024, 625],
  [2048, 1250],
];

const REPLACE_FACTOR = 1.87;

/** What a failed condition or a missing document costs. */
export const FAILED_CHARGE = 1;

function interpolate(table: readonly (readonly [number, number])[], kilobytes: number): number {
  let [lowSize, lowCharge] = table[0] ?? [0, 0];
  if (kilobytes <= lowSize) return lowCharge;
  for (const [size, charge] of table) {
    if (kilobytes <= size) return lowCharge + ((kilobytes - lowSize) / (size - lowSize)) * (charge - lowCharge);
    [lowSize, lowCharge] = [size, charge];
  }
  return lowCharge;
}

/** Charges have two decimals. */
function rounded(charge: number): number {
  return Math.round(charge * 100) / 100;
}

export function readCharge(bytes: number): number {
  return rounded(interpolate(READ, bytes / 1024));
}

/** Create and delete. */
export function writeCharge(bytes: number): number {
  return rounded(interpolate(WRITE, bytes / 1024));
}

/** Replace, patch, and upsert of an existing document. */
export function replaceCharge(bytes: number): number {
  return rounded(interpolate(WRITE, bytes / 1024) * REPLACE_FACTOR);
}

/** What a query did in one physical partition. */
export interface QueryWork {
  /** Documents read from the store. */
  readonly loaded: number;
  readonly loadedBytes: number;
  /** Documents loaded although no index pointed at them. */
  readonly scanned: number;
  readonly indexEntries: number;
}

/** One page of a query over some physical partitions. */
export function queryCharge(partitions: number, work: QueryWork): number {
  const loading = 0.02 * work.loaded + 0.05 * (work.loadedBytes / 1024);
  return rounded(2.3 * partitions + loading + 0.0005 * work.indexEntries + 0.015 * work.scanned);
}
