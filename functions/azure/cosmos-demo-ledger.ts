import type { Database } from '@azure/cosmos';
import { ledgerEntryId } from '../demo/ledger.js';
import type { LedgerEntry, LedgerStore } from '../demo/ledger.js';
import { writeIfUnchanged } from './conditional-write.js';

/** The ledger of the simulated remote services over the Cosmos DB container `demo-ledger`. */
export function createCosmosDemoLedger(database: Database): LedgerStore {
  const container = database.container('demo-ledger');
  return {
    get: async (orderId, service) => {
      const { resource } = await container.item(ledgerEntryId(orderId, service), orderId).read<LedgerEntry>();
      return resource === undefined ? undefined : { entry: resource, etag: resource._etag };
    },
    put: (entry, etag) => writeIfUnchanged(container, entry, { partitionKey: entry.orderId, etag }),
  };
}
