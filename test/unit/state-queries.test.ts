import type { SqlQuerySpec } from '@azure/cosmos';
import { describe, expect, it } from 'vitest';
import topology from '../../infra/topology.json' with { type: 'json' };
import {
  changedQuery,
  countQuery,
  expiredQuery,
  pendingQuery,
  unsentQuery,
  withoutDeadlineQuery,
} from '../../functions/azure/state-queries.js';
import { mustFind } from '../support/builders.js';
import { startOfTime } from '../support/manual-clock.js';

const paging = { pageSize: 10 } as const;
const frequent: readonly SqlQuerySpec[] = [
  countQuery('Pending'),
  pendingQuery({ ...paging, state: 'Compensating', notBefore: startOfTime }),
  pendingQuery({ ...paging, state: 'Pending', priority: 'high', notBefore: startOfTime }),
  expiredQuery({ ...paging, state: 'Processing', completeBefore: startOfTime }),
  expiredQuery({ ...paging, state: 'Processing', completeBefore: startOfTime, completeFrom: startOfTime }),
  withoutDeadlineQuery('Processing', startOfTime),
  unsentQuery(['Processed'], { ...paging, since: startOfTime }),
  unsentQuery(['Processed'], { ...paging, since: startOfTime, from: startOfTime }),
];

const { indexingPolicy } = mustFind(topology.cosmosDb.containers.find(({ name }) => name === 'order-state'));
const compositeIndexes = (indexingPolicy.compositeIndexes ?? []).map((paths) =>
  paths.map(({ path, order }) => `${path} ${order}`).join(', '),
);

/** The paths of a query's ORDER BY, in the form of an index. */
function orderOf({ query }: SqlQuerySpec): string | undefined {
  const [, list] = /ORDER BY (.+)$/.exec(query) ?? [];
  return list
    ?.split(', ')
    .map((field) => `/${field.replace('c.', '')} ascending`)
    .join(', ');
}

describe('the queries of starter and supervisor', () => {
  it('are each served by a composite index if ordered by several properties, and each index serves one (R105, T9)', () => {
    const orders = frequent.flatMap((query) => orderOf(query) ?? []).filter((order) => order.includes(','));
    expect(new Set(orders)).toEqual(new Set(compositeIndexes));
  });

  it('filter by indexed paths only (R105)', () => {
    const indexed = indexingPolicy.includedPaths.map(({ path }) => path.replace('/?', '').slice(1));
    for (const { query } of frequent) {
      const used = [...query.matchAll(/c\.(\w+)/g)].map(([, field = '']) => field);
      for (const field of used) expect(indexed, query).toContain(field);
    }
  });

  it('name every value as a parameter: nothing of an order gets into their text', () => {
    for (const { query, parameters = [] } of [...frequent, changedQuery(startOfTime)]) {
      const named = [...query.matchAll(/@\w+/g)].map(([name]) => name);
      expect(new Set(named)).toEqual(new Set(parameters.map(({ name }) => name)));
      expect(query).not.toContain(startOfTime);
    }
  });

  it('take a missing owner for a free record, and never an owned one (T8, C12, V8)', () => {
    for (const { query } of frequent.filter(({ query: text }) => text.includes('lockedBy'))) {
      expect(query).toContain('(IS_NULL(c.lockedBy) OR NOT IS_DEFINED(c.lockedBy))');
    }
  });
});
