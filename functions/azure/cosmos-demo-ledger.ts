import type { Database } from '@azure/cosmos';
import { ledgerEntryId } from '../demo/ledger.js';
import type { LedgerEntry, LedgerStore } from '../demo/ledger.js';
import { cosmosError, statusCodeOf } from './errors.js';

/** The ledger of the simulated remote services over the Cosmos DB container `demo-ledger`. */
export function createCosmosDemoLedger(database: Database): LedgerStore {
  const container = database.container('demo-ledger');
  return {
    get: async (orderId, service) => {
      const { resource } = await container.item(ledgerEntryId(orderId, service), orderId).read<LedgerEntry>();
      return resource === undefined ? undefined : { entry: resource, etag: resource._etag };
    },
    put: async (entry, etag) => {
      try {
        if (etag === undefined) await container.items.create(entry);
        else {
          const accessCondition = { type: 'IfMatch', condition: etag };
          await container.item(entry.id, entry.orderId).replace(entry, { accessCondition });
        }
        return true;
      } catch (error) {
        const isChanged = statusCodeOf(error) === 409 || statusCodeOf(error) === 412;
        if (isChanged) return false;
        throw cosmosError(error);
      }
    },
  };
}
