/**
 * A sorted list in chunks: binary search to a chunk, then inside it. Insertion and removal move one chunk's elements.
 *
 * Invariants
 * L1 The elements are in strictly ascending order of `compare`; no chunk is empty.
 * L2 No chunk holds more than MAX_CHUNK elements.
 */

const MAX_CHUNK = 512;

/** Tells where an element lies seen from a sought position: negative before it, positive after it, 0 at it. */
export type Probe<T> = (element: T) => number;

export interface OrderedList<T> {
  size(): number;
  insert(element: T): void;
  /** Removes an element that compares equal; false when there is none. */
  remove(element: T): boolean;
  /** From the first element that does not lie before the position, upwards. */
  ascend(probe: Probe<T>): IterableIterator<T>;
  /** From the last element that does not lie after the position, downwards. */
  descend(probe: Probe<T>): IterableIterator<T>;
}

/** The first index whose element does not lie before the position; the length when there is none. */
function lowerBound<T>(elements: readonly T[], probe: Probe<T>): number {
  let low = 0;
  let high = elements.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (probe(elements[middle] as T) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first chunk whose last element does not lie before the position. */
function chunkFor<T>(chunks: readonly (readonly T[])[], probe: Probe<T>): number {
  let low = 0;
  let high = chunks.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const chunk = chunks[middle] as readonly T[];
    if (probe(chunk[chunk.length - 1] as T) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function split<T>(sorted: readonly T[]): T[][] {
  const chunks: T[][] = [];
  for (let at = 0; at < sorted.length; at += MAX_CHUNK / 2) chunks.push(sorted.slice(at, at + MAX_CHUNK / 2));
  return chunks;
}

/** Creates a list of elements in any order. */
export function createOrderedList<T>(
  compare: (left: T, right: T) => number,
  elements: Iterable<T> = [],
): OrderedList<T> {
  const chunks = split(Array.from(elements).sort(compare));
  let size = chunks.reduce((sum, chunk) => sum + chunk.length, 0);

  const insert = (element: T): void => {
    const probe: Probe<T> = (other) => compare(other, element);
    size += 1;
    const at = Math.min(chunkFor(chunks, probe), chunks.length - 1);
    const chunk = chunks[at];
    if (chunk === undefined) {
      chunks.push([element]);
      return;
    }
    chunk.splice(lowerBound(chunk, probe), 0, element);
    if (chunk.length > MAX_CHUNK) chunks.splice(at + 1, 0, chunk.splice(MAX_CHUNK / 2));
  };

  const remove = (element: T): boolean => {
    const probe: Probe<T> = (other) => compare(other, element);
    const at = chunkFor(chunks, probe);
    const chunk = chunks[at];
    if (chunk === undefined) return false;
    const index = lowerBound(chunk, probe);
    const found = chunk[index];
    if (found === undefined || compare(found, element) !== 0) return false;
    chunk.splice(index, 1);
    if (chunk.length === 0) chunks.splice(at, 1);
    size -= 1;
    return true;
  };

  function* ascend(probe: Probe<T>): IterableIterator<T> {
    let at = chunkFor(chunks, probe);
    let index = lowerBound(chunks[at] ?? [], probe);
    for (; at < chunks.length; at += 1, index = 0) {
      const chunk = chunks[at] as readonly T[];
      for (; index < chunk.length; index += 1) yield chunk[index] as T;
    }
  }

  function* descend(probe: Probe<T>): IterableIterator<T> {
    const notAfter: Probe<T> = (element) => (probe(element) <= 0 ? -1 : 1);
    let at = Math.min(chunkFor(chunks, notAfter), chunks.length - 1);
    let index = lowerBound(chunks[at] ?? [], notAfter) - 1;
    for (; at >= 0; at -= 1, index = (chunks[at]?.length ?? 0) - 1) {
      const chunk = chunks[at] as readonly T[];
      for (; index >= 0; index -= 1) yield chunk[index] as T;
    }
  }

  return { size: () => size, insert, remove, ascend, descend };
}
