/** What the newest writes of a container have replaced, so that a fault can show a read an earlier state. */
import type { StoredDocument } from './document.js';

/** Older states than so many writes ago cannot be shown. */
const REMEMBERED_WRITES = 1_000;

interface Replaced {
  readonly key: string;
  /** When it was written, in milliseconds. */
  readonly at: number;
  readonly lsn: number;
  /** What the write replaced; absent: it created the document. */
  readonly before: StoredDocument | undefined;
}

export interface PastVersions {
  /** Notes a write that is about to be done. */
  note(key: string, lsn: number, before: StoredDocument | undefined): void;
  /** The document under a key as it was before the writes that are not visible yet. */
  find(
    key: string,
    present: StoredDocument | undefined,
    isVisible: (write: Pick<Replaced, 'at' | 'lsn'>) => boolean,
  ): StoredDocument | undefined;
}

/** Remembers the newest writes only. */
export function createPastVersions(): PastVersions {
  const writes: Replaced[] = [];
  return {
    note(key, lsn, before) {
      writes.push({ key, lsn, at: Date.now(), before: before && { ...before } });
      if (writes.length > 2 * REMEMBERED_WRITES) writes.splice(0, REMEMBERED_WRITES);
    },
    find(key, present, isVisible) {
      let found = present;
      for (let index = writes.length - 1; index >= 0; index -= 1) {
        const write = writes[index];
        if (write === undefined || isVisible(write)) break;
        if (write.key === key) found = write.before;
      }
      return found;
    },
  };
}
