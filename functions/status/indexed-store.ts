/**
 * A state store that notes deadlines in the recovery index. The index is derived and only a hint (T69): it is written
 * after the record, a failure is ignored, and the supervisor's scan finds what it misses.
 */
import type { RecoveryIndex, StateStore } from '../state/ports.js';
import type { StateRecord } from '../state/state-record.js';

/** Adds the notes to a store. */
export function withRecoveryIndex(store: StateStore, index: RecoveryIndex): StateStore {
  return {
    ...store,
    replaceIfUnchanged: async (record, etag) => {
      const result = await store.replaceIfUnchanged(record, etag);
      if (result.kind === 'replaced') await noteDeadline(record, index);
      return result;
    },
  };
}

async function noteDeadline({ orderId, lockedBy, completeBy }: StateRecord, index: RecoveryIndex): Promise<void> {
  if (lockedBy === null || completeBy === null) return;
  try {
    await index.note(orderId, completeBy);
  } catch {
    return;
  }
}
