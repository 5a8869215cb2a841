/** The ring of hashed partition keys, cut into equal ranges. */
import type { StoredDocument } from './document.js';
import type { IndexSet } from './index-set.js';
import { createIndexSet } from './index-set.js';
import type { PartitionKeyValue } from './partition-key.js';
import { effectivePartitionKey } from './partition-key.js';

/** A range of hashed partition keys with the indexes of its documents. */
export interface PhysicalPartition {
  readonly id: string;
  readonly minInclusive: string;
  readonly maxExclusive: string;
  readonly indexes: IndexSet;
}

export interface PhysicalPartitions {
  readonly all: readonly PhysicalPartition[];
  /** The partition a key belongs to. */
  of(partitionKey: PartitionKeyValue): PhysicalPartition;
  /** The partition a stored document lives in; spares hashing its key again. */
  holding(document: StoredDocument): PhysicalPartition;
}

/** Version 2 hashes have their two highest bits clear. */
const RING_SIZE = 0x40000000;

function ringBounds(count: number): readonly string[] {
  const inner = Array.from({ length: count - 1 }, (_, index) => {
    const start = Math.floor((RING_SIZE * (index + 1)) / count);
    return start.toString(16).toUpperCase().padStart(8, '0').padEnd(32, '0');
  });
  return ['', ...inner, 'FF'];
}

/** Creates empty partitions; `documents` lists the container's documents when an index is built. */
export function createPhysicalPartitions(count: number, documents: () => Iterable<StoredDocument>): PhysicalPartitions {
  const bounds = ringBounds(count);
  const indexOf = (partitionKey: PartitionKeyValue): number => {
    if (count === 1) return 0;
    const hash = effectivePartitionKey(partitionKey);
    return bounds.findIndex((bound, index) => index > 0 && hash < bound) - 1;
  };
  function* documentsOf(partition: string): Iterable<StoredDocument> {
    for (const document of documents()) if (document.partition === partition) yield document;
  }
  const all = bounds.slice(1).map((maxExclusive, index) => ({
    id: String(index),
    minInclusive: bounds[index] ?? '',
    maxExclusive,
    indexes: createIndexSet(() => documentsOf(String(index))),
  }));
  return {
    all,
    of: (partitionKey) => all[indexOf(partitionKey)] as PhysicalPartition,
    holding: ({ partition }) => all[Number(partition)] as PhysicalPartition,
  };
}
