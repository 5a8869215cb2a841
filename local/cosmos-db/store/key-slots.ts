/** Which values of its documents a container keeps at hand for the indexes: one slot a path. */
import type { JsonObject, Value } from '../query/values.js';
import { readPath } from '../query/values.js';
import type { StoredDocument } from './document.js';

export interface KeySlots {
  /** The slot of a path; made, and filled for all documents, when it is new. */
  slotOf(path: readonly string[]): number;
  /** The values of a document, by slot. */
  keysOf(content: JsonObject): readonly Value[];
}

/** Creates the slots of these paths; `documents` lists the documents when another one is added. */
export function createKeySlots(
  paths: readonly (readonly string[])[],
  documents: () => Iterable<StoredDocument>,
): KeySlots {
  const slots: (readonly string[])[] = [];
  const slotByPath = new Map<string, number>();
  const slotOf = (path: readonly string[]): number => {
    const name = JSON.stringify(path);
    const known = slotByPath.get(name);
    if (known !== undefined) return known;
    const slot = slots.push(path) - 1;
    slotByPath.set(name, slot);
    for (const document of documents()) {
      document.keys = [...document.keys, readPath(JSON.parse(document.body) as JsonObject, path)];
    }
    return slot;
  };
  for (const path of paths) slotOf(path);
  return { slotOf, keysOf: (content) => slots.map((path) => readPath(content, path)) };
}
