import { expect, it } from 'vitest';
import { TransientError } from '../../functions/state/errors.js';
import { withRecoveryIndex } from '../../functions/status/indexed-store.js';
import { claimed, mustFind } from '../support/builders.js';
import { createMemoryStateDatabase, createMemoryStateStore } from '../support/memory-stores.js';

it('writes the record although its deadline cannot be noted: the index is only a hint (T69)', async () => {
  const database = createMemoryStateDatabase();
  database.put(claimed());
  const noted: string[] = [];
  const store = withRecoveryIndex(createMemoryStateStore(database), {
    note: (orderId) => {
      noted.push(orderId);
      return Promise.reject(new TransientError('no index'));
    },
    due: () => {
      throw new Error('not asked here');
    },
  });
  const { record, etag } = mustFind(await store.getLatest('A-1'));
  expect(await store.replaceIfUnchanged({ ...record, attempt: 7 }, etag)).toMatchObject({ kind: 'replaced' });
  expect(noted).toEqual(['A-1']);
  expect(database.record('A-1').attempt).toBe(7);
});
