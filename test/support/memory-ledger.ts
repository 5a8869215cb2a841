import type { LedgerEntry, LedgerStore } from '../../functions/demo/ledger.js';

/** A ledger in memory, with what it holds. */
export interface MemoryLedger extends LedgerStore {
  readonly entries: Map<string, LedgerEntry>;
}

/** Creates an empty ledger. */
export function createMemoryLedger(): MemoryLedger {
  const entries = new Map<string, LedgerEntry>();
  return {
    entries,
    get: (orderId, service) => {
      const entry = entries.get(`${orderId}.${service}`);
      return Promise.resolve(entry && { entry, etag: JSON.stringify(entry) });
    },
    put: (entry, etag) => {
      const current = entries.get(entry.id);
      const isUnchanged = (current && JSON.stringify(current)) === etag;
      if (isUnchanged) entries.set(entry.id, entry);
      return Promise.resolve(isUnchanged);
    },
  };
}
