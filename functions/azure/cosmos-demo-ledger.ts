import type { Database } from '@azure/cosmos';
import { ledgerEntryId } from '../demo/ledger.js';
import type { LedgerEntry, LedgerStore } from '../demo/ledger.js';
import { writeIfUnchanged } from './conditional-write.js';
import { readItem } from './read-item.js';

/** The ledger of the simulated remote services over the Cosmos DB container `demo-ledger`. */
export function createCosmosDemoLedger(database: Database): LedgerStore {
  const container = database.container('demo-ledger');
  return {
    get: async (orderId, service) => {
      const stored = await readItem<LedgerEntry>(container, ledgerEntryId(orderId, service), orderId);
      return stored === undefined ? undefined : { entry: entryOf(stored), etag: stored._etag };
    },
    put: (entry, etag) => writeIfUnchanged(container, entry, { partitionKey: entry.orderId, etag }),
  };
}

/** The entry without the system fields that Cosmos DB adds; their names begin with an underscore. */
function entryOf(stored: LedgerEntry): LedgerEntry {
  return Object.fromEntries(Object.entries(stored).filter(([name]) => !name.startsWith('_'))) as unknown as LedgerEntry;
}
