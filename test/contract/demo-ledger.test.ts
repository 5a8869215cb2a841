import { describe, expect, it } from 'vitest';
import { createCosmosDemoLedger } from '../../functions/azure/cosmos-demo-ledger.js';
import type { LedgerEntry } from '../../functions/demo/ledger.js';
import { cosmosTargets, uniqueId } from '../support/contract-targets.js';

describe.each(cosmosTargets())('the demo ledger over $name', ({ open }) => {
  it('returns an entry as it was written, without the fields that the database adds', async () => {
    const { service, close } = await open();
    try {
      const ledger = createCosmosDemoLedger(service);
      const orderId = uniqueId();
      const id = `${orderId}.payment`;
      const entry: LedgerEntry = {
        ...{ id, orderId, service: 'payment', highestToken: 1, undo: null, furtherKeys: [] },
        effect: { key: id, reference: 'r-1', token: 1 },
      };
      expect(await ledger.put(entry, undefined)).toBe(true);
      expect((await ledger.get(orderId, 'payment'))?.entry).toEqual(entry);
    } finally {
      await close();
    }
  });
});
