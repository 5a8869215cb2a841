/** The query evaluator against a model: indexes, pages and concurrent writes never change what a query finds. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Json, JsonObject } from '../../local/cosmos-db/query/values.js';
import { compareValues } from '../../local/cosmos-db/query/values.js';
import { everythingIndexed, memoryContainer, nothingIndexed, runQuery, store } from '../support/cosmos-db-query.js';

const withComposites: Json = {
  includedPaths: [{ path: '/a/?' }, { path: '/b/?' }],
  excludedPaths: [{ path: '/*' }],
  compositeIndexes: [
    [
      { path: '/a', order: 'ascending' },
      { path: '/b', order: 'ascending' },
    ],
    [
      { path: '/a', order: 'ascending' },
      { path: '/b', order: 'descending' },
    ],
  ],
};

/** Few different values, of every type, so that they meet. */
const value = fc.oneof(
  fc.constantFrom<Json>(null, true, false, 0, 1, 2, -1, '', 'a', 'b', 'ab'),
  fc.constantFrom<Json>([], [1], { x: 1 }, {}),
);
const scalar = fc.constantFrom<Json>(null, true, false, 0, 1, 2, '', 'a', 'b', 'ab');

const documents = fc
  .array(fc.record({ a: value, b: value }, { requiredKeys: [] }), { maxLength: 30 })
  .map((list) => list.map((document, index): JsonObject => ({ id: `d${index}`, ...document })));

type Path = 'a' | 'b';
/** A condition with its meaning: undefined stands for the language's undefined. */
interface Condition {
  readonly text: string;
  readonly holds: (document: JsonObject) => boolean | undefined;
}

const path = fc.constantFrom<Path>('a', 'b');

function typeOf(one: Json): string {
  return one === null ? 'null' : Array.isArray(one) ? 'array' : typeof one;
}

function comparison(operator: string, test: (order: number) => boolean): fc.Arbitrary<Condition> {
  return fc.tuple(path, scalar).map(([name, other]) => ({
    text: `c.${name} ${operator} ${JSON.stringify(other)}`,
    holds: (document) => {
      const own = document[name];
      if (own === undefined || typeOf(own) !== typeOf(other)) return undefined;
      return test(compareValues(own, other));
    },
  }));
}

const equality = fc.tuple(path, scalar, fc.boolean()).map(([name, other, negated]): Condition => ({
  text: `c.${name} ${negated ? '!=' : '='} ${JSON.stringify(other)}`,
  holds: (document) => {
    const own = document[name];
    return own === undefined ? undefined : (compareValues(own, other) === 0) !== negated;
  },
}));

const definedness = fc.tuple(path, fc.boolean()).map(([name, negated]): Condition => ({
  text: `${negated ? 'NOT ' : ''}IS_DEFINED(c.${name})`,
  holds: (document) => (document[name] !== undefined) !== negated,
}));

const prefix = fc.tuple(path, fc.constantFrom('', 'a', 'ab')).map(([name, start]): Condition => ({
  text: `STARTSWITH(c.${name}, ${JSON.stringify(start)})`,
  holds: (document) => {
    const own = document[name];
    return typeof own === 'string' ? own.startsWith(start) : undefined;
  },
}));

const simple = fc.oneof(
  equality,
  definedness,
  prefix,
  comparison('<', (order) => order < 0),
  comparison('<=', (order) => order <= 0),
  comparison('>', (order) => order > 0),
  comparison('>=', (order) => order >= 0),
);

function both(left: Condition, right: Condition, or: boolean): Condition {
  const deciding = or;
  return {
    text: `(${left.text} ${or ? 'OR' : 'AND'} ${right.text})`,
    holds: (document) => {
      const results = [left.holds(document), right.holds(document)];
      if (results.includes(deciding)) return deciding;
      return results.includes(undefined) ? undefined : !deciding;
    },
  };
}

function not(condition: Condition): Condition {
  return {
    text: `NOT (${condition.text})`,
    holds: (document) => {
      const result = condition.holds(document);
      return result === undefined ? undefined : !result;
    },
  };
}

const condition: fc.Arbitrary<Condition> = fc.oneof(
  simple,
  fc.tuple(simple, simple, fc.boolean()).map(([left, right, or]) => both(left, right, or)),
  fc.tuple(simple, simple, simple).map(([one, two, three]) => both(both(one, two, false), three, false)),
  simple.map(not),
);

const orders = fc.constantFrom<readonly (readonly [Path, boolean])[]>(
  [['a', false]],
  [['a', true]],
  [['b', false]],
  [
    ['a', false],
    ['b', false],
  ],
  [
    ['a', true],
    ['b', true],
  ],
  [
    ['a', false],
    ['b', true],
  ],
  [
    ['a', true],
    ['b', false],
  ],
);

const runs = { numRuns: 400, seed: 20260101 };

it('finds by every index exactly what the condition means', () => {
  fc.assert(
    fc.property(documents, condition, fc.integer({ min: 1, max: 7 }), (list, wanted, maxItems) => {
      const expected = list.filter((document) => wanted.holds(document) === true).map(({ id }) => id);
      for (const policy of [nothingIndexed, everythingIndexed, withComposites]) {
        const container = memoryContainer(policy, 2);
        store(container, list);
        const { results } = runQuery(container, `SELECT VALUE c.id FROM c WHERE ${wanted.text}`, { maxItems });
        expect([...results].sort()).toEqual([...expected].sort());
        const count = runQuery(container, `SELECT VALUE COUNT(1) FROM c WHERE ${wanted.text}`);
        expect(count.results).toEqual([expected.length]);
      }
    }),
    runs,
  );
});

it('yields the order that ORDER BY asks for, page by page', () => {
  fc.assert(
    fc.property(documents, condition, orders, fc.integer({ min: 1, max: 7 }), (list, wanted, order, maxItems) => {
      const container = memoryContainer(withComposites);
      store(container, list);
      const terms = order.map(([name, descending]) => `c.${name}${descending ? ' DESC' : ''}`).join(', ');
      const text = `SELECT * FROM c WHERE ${wanted.text} ORDER BY ${terms}`;
      const found = runQuery(container, text, { maxItems }).results as JsonObject[];
      const expected = list.filter((document) => wanted.holds(document) === true);
      expect(found.map(({ id }) => id).sort()).toEqual(expected.map(({ id }) => id).sort());
      for (const [index, document] of found.slice(1).entries()) {
        const before = found[index] as JsonObject;
        const difference = order
          .map(([name, descending]) => compareValues(before[name], document[name]) * (descending ? -1 : 1))
          .find((part) => part !== 0);
        expect(difference ?? 0).toBeLessThanOrEqual(0);
      }
    }),
    runs,
  );
});

it('neither loses nor repeats what stays as it is while other documents come, go and change between pages', () => {
  const change = fc.tuple(fc.nat(29), value);
  fc.assert(
    fc.property(documents, orders, fc.array(change, { maxLength: 20 }), (list, order, changes) => {
      const container = memoryContainer(withComposites);
      store(container, list);
      const touched = new Set(changes.map(([index]) => `d${index}`));
      const pending = [...changes];
      const terms = order.map(([name, descending]) => `c.${name}${descending ? ' DESC' : ''}`).join(', ');
      const { results } = runQuery(container, `SELECT VALUE c.id FROM c ORDER BY ${terms}`, {
        maxItems: 3,
        afterPage: () => {
          const next = pending.shift();
          if (next === undefined) return;
          const id = `d${next[0]}`;
          if (next[1] === null) container.remove(id, id, container.counters.takeLsn());
          else store(container, [{ id, a: next[1], b: next[1] }]);
        },
      });
      const untouched = list.map(({ id }) => id as string).filter((id) => !touched.has(id));
      const found = (results as string[]).filter((id) => !touched.has(id));
      expect(found.sort()).toEqual(untouched.sort());
    }),
    runs,
  );
});
