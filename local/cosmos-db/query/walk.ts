/**
 * Walks the documents of one physical partition along an access path, from a position on.
 *
 * Invariant
 * W1 The walk is in the order of the access path, and a position is passed, not counted: documents that come or go
 *    meanwhile neither shift nor repeat the others.
 */
import type { PhysicalPartition } from '../store/physical-partitions.js';
import type { StoredDocument } from '../store/document.js';
import type { OrderPosition } from '../store/index-set.js';
import { compareInOrder, compareToPosition } from '../store/index-set.js';
import type { AccessPath } from './access-path.js';
import type { Bound } from './constraints.js';
import { compareValues } from './values.js';

/** Negative when the document lies before the part of the index that matters, positive when behind, else 0. */
function placeOf(document: StoredDocument, path: AccessPath): number {
  const { slots } = path.index;
  for (const [index, value] of path.prefix.entries()) {
    const slot = slots[index];
    if (slot === undefined) return 0;
    const order = compareValues(document.keys[slot.slot], value);
    if (order !== 0) return slot.descending ? -order : order;
  }
  const next = slots[path.prefix.length];
  if (next === undefined) return 0;
  const side = sideOfRange(document, next.slot, path);
  return next.descending ? -side : side;
}

function sideOfRange(document: StoredDocument, slot: number, { low, high }: AccessPath): number {
  const value = document.keys[slot];
  if (low !== undefined && isOutside(compareValues(value, low.value), low)) return -1;
  return high !== undefined && isOutside(compareValues(high.value, value), high) ? 1 : 0;
}

function isOutside(order: number, bound: Bound): boolean {
  return order < 0 || (order === 0 && !bound.inclusive);
}

/** Where to go on: behind this place. */
export type After = OrderPosition | undefined;

function isBehind(document: StoredDocument, after: After, path: AccessPath): boolean {
  return after === undefined || compareToPosition(document, after, path.order) > 0;
}

function* walkIndex(partition: PhysicalPartition, path: AccessPath, after: After): Iterable<StoredDocument> {
  const list = partition.indexes.list(path.index);
  const seen = path.descending ? 1 : -1;
  const probe = (document: StoredDocument): number => {
    const place = placeOf(document, path);
    return place === 0 && !isBehind(document, after, path) ? seen : place;
  };
  for (const document of path.descending ? list.descend(probe) : list.ascend(probe)) {
    if (placeOf(document, path) !== 0) return;
    yield document;
  }
}

function* walkSorted(partition: PhysicalPartition, path: AccessPath, after: After): Iterable<StoredDocument> {
  const documents = [...walkIndex(partition, path, undefined)];
  documents.sort((left, right) => compareInOrder(left, right, path.order));
  for (const document of documents) if (isBehind(document, after, path)) yield document;
}

/** The documents in order, behind a position. */
export function walk(partition: PhysicalPartition, path: AccessPath, after: After): Iterable<StoredDocument> {
  return path.sorts ? walkSorted(partition, path, after) : walkIndex(partition, path, after);
}
