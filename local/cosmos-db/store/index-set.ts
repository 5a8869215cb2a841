/**
 * The indexes of one physical partition. An index is built at its first use and kept up to date from then on.
 *
 * Invariants
 * X1 Every built index holds exactly the partition's documents, in the order of its paths and then of `sequence`.
 * X2 A document's `keys` change only between its removal from and its insertion into the indexes on a changed path.
 */
import type { Value } from '../query/values.js';
import { compareValues } from '../query/values.js';
import type { StoredDocument } from './document.js';
import type { IndexPath } from './indexing-policy.js';
import type { OrderedList } from './ordered-list.js';
import { createOrderedList } from './ordered-list.js';

/** Slots of `StoredDocument.keys` with their directions. */
export interface IndexOrder {
  readonly slots: readonly { readonly slot: number; readonly descending: boolean }[];
  /** Ties are broken by `sequence`, in the direction of the first path. */
  readonly tieDescending: boolean;
}

/** The place of a document in an order. */
export interface OrderPosition {
  readonly values: readonly Value[];
  readonly sequence: number;
}

/** Where a document lies in an order, seen from a position. */
export function compareToPosition(document: StoredDocument, position: OrderPosition, order: IndexOrder): number {
  for (const [index, { slot, descending }] of order.slots.entries()) {
    const difference = compareValues(document.keys[slot], position.values[index]);
    if (difference !== 0) return descending ? -difference : difference;
  }
  const difference = document.sequence - position.sequence;
  return order.tieDescending ? -difference : difference;
}

/** The place a document has in an order now. */
export function positionOf(document: StoredDocument, order: IndexOrder): OrderPosition {
  return { values: order.slots.map(({ slot }) => document.keys[slot]), sequence: document.sequence };
}

/** Compares two documents in an order. */
export function compareInOrder(left: StoredDocument, right: StoredDocument, order: IndexOrder): number {
  for (const { slot, descending } of order.slots) {
    const difference = compareValues(left.keys[slot], right.keys[slot]);
    if (difference !== 0) return descending ? -difference : difference;
  }
  const difference = left.sequence - right.sequence;
  return order.tieDescending ? -difference : difference;
}

interface BuiltIndex {
  readonly order: IndexOrder;
  readonly list: OrderedList<StoredDocument>;
}

export interface IndexSet {
  /** The index in this order, built now when it is new. */
  list(order: IndexOrder): OrderedList<StoredDocument>;
  add(document: StoredDocument): void;
  remove(document: StoredDocument): void;
  /** Gives the document other keys, moving it in the indexes where they differ. */
  rekey(document: StoredDocument, keys: readonly Value[]): void;
}

/** Names an order: equal names, equal order. */
export function orderName(order: IndexOrder): string {
  return order.slots.map(({ slot, descending }) => `${slot}${descending ? 'd' : 'a'}`).join(',');
}

/** Creates the indexes of a partition; `documents` lists its documents when an index is built. */
export function createIndexSet(documents: () => Iterable<StoredDocument>): IndexSet {
  const built = new Map<string, BuiltIndex>();
  return {
    list(order) {
      const name = orderName(order);
      const known = built.get(name);
      if (known !== undefined) return known.list;
      const list = createOrderedList<StoredDocument>((left, right) => compareInOrder(left, right, order), documents());
      built.set(name, { order, list });
      return list;
    },
    add(document) {
      for (const { list } of built.values()) list.insert(document);
    },
    remove(document) {
      for (const { list } of built.values()) list.remove(document);
    },
    rekey(document, keys) {
      const moved = [...built.values()].filter(({ order }) =>
        order.slots.some(({ slot }) => compareValues(document.keys[slot], keys[slot]) !== 0),
      );
      for (const { list } of moved) list.remove(document);
      document.keys = keys;
      for (const { list } of moved) list.insert(document);
    },
  };
}

/** An order of the given paths, by the slots their values are kept in. */
export function orderOf(paths: readonly IndexPath[], slotOf: (path: readonly string[]) => number): IndexOrder {
  return {
    slots: paths.map(({ path, descending }) => ({ slot: slotOf(path), descending })),
    tieDescending: paths[0]?.descending ?? false,
  };
}
