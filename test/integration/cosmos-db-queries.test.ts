/** Queries of every kind through the real client, over three physical partitions. */
import type { Container } from '@azure/cosmos';
import { expect, it } from 'vitest';
import type { Fixture } from '../support/cosmos-db.js';
import { queryAll, statusOf, topologyOf, withDirectory, withServer, withServerIn } from '../support/cosmos-db.js';

const topology = topologyOf({
  people: {
    partitionKey: '/city',
    indexingPolicy: {
      includedPaths: [{ path: '/*' }],
      excludedPaths: [{ path: '/secret/?' }],
      compositeIndexes: [
        [
          { path: '/city', order: 'ascending' },
          { path: '/age', order: 'descending' },
        ],
      ],
    },
  },
});

interface Person {
  readonly id: string;
  readonly city: string;
  readonly age: number;
  readonly tags: readonly string[];
}

const cities = ['Porto', 'Osaka', 'Lyon', 'Quito'];
const people = Array.from({ length: 60 }, (_, index): Person => ({
  id: `p${index}`,
  city: cities[index % cities.length] ?? '',
  age: (index * 7) % 50,
  tags: index % 2 === 0 ? ['even'] : [],
}));

function withPeople(use: (container: Container, fixture: Fixture) => Promise<void>): Promise<void> {
  return withServer({ topology, physicalPartitions: 3 }, async (fixture) => {
    const container = fixture.container('people');
    for (const person of people) await container.items.create(person);
    await use(container, fixture);
  });
}

it('projects columns, values and computed parts', () =>
  withPeople(async (container) => {
    const columns = await queryAll(
      container,
      "SELECT c.id, c.age + 1 AS next, {'in': c.city} AS place FROM c WHERE c.id = 'p1'",
    );
    expect(columns.items).toEqual([{ id: 'p1', next: 8, place: { in: 'Osaka' } }]);
    const unnamed = await queryAll(container, "SELECT c.id, LOWER(c.city) FROM c WHERE c.id = 'p0'");
    expect(unnamed.items).toEqual([{ id: 'p0', $2: 'porto' }]);
    const values = await queryAll(
      container,
      "SELECT VALUE c.age FROM c WHERE c.city = 'Porto' AND ARRAY_CONTAINS(c.tags, 'even')",
    );
    expect(values.items).toHaveLength(15);
  }));

it('orders by one key and by the keys of a composite index, in both directions', () =>
  withPeople(async (container) => {
    const ascending = await queryAll<number>(container, 'SELECT VALUE c.age FROM c ORDER BY c.age', {
      maxItemCount: 7,
    });
    expect(ascending.items).toEqual(people.map(({ age }) => age).sort((a, b) => a - b));
    const descending = await queryAll<number>(container, 'SELECT VALUE c.age FROM c ORDER BY c.age DESC');
    expect(descending.items).toEqual([...ascending.items].reverse());
    const text = (person: Person): string => `${person.city} ${String(99 - person.age).padStart(2, '0')}`;
    for (const [query, turned] of [
      ['SELECT * FROM c ORDER BY c.city, c.age DESC', false],
      ['SELECT * FROM c ORDER BY c.city DESC, c.age ASC', true],
    ] as const) {
      const { items } = await queryAll<Person>(container, query, { maxItemCount: 9 });
      const expected = people.map(text).sort();
      expect(items.map(text)).toEqual(turned ? expected.reverse() : expected);
    }
  }));

it.each([
  ['SELECT * FROM c ORDER BY c.city, c.age', /does not have a corresponding composite index/],
  ['SELECT * FROM c ORDER BY c.age, c.id', /does not have a corresponding composite index/],
  ['SELECT * FROM c ORDER BY c.secret', /order-by item is excluded/],
])('refuses %s: no index serves it', (query, message) =>
  withPeople(async (container) => {
    await expect(queryAll(container, query)).rejects.toThrow(message);
    await expect(queryAll(container, query, { partitionKey: 'Porto' })).rejects.toThrow(message);
  }),
);

it('honours TOP, OFFSET and LIMIT over partitions and pages', () =>
  withPeople(async (container) => {
    const all = await queryAll<string>(container, 'SELECT VALUE c.id FROM c ORDER BY c.age');
    const top = await queryAll<string>(container, 'SELECT TOP 12 VALUE c.id FROM c ORDER BY c.age', {
      maxItemCount: 5,
    });
    expect(top.items).toEqual(all.items.slice(0, 12));
    const window = await queryAll<string>(container, 'SELECT VALUE c.id FROM c ORDER BY c.age OFFSET 10 LIMIT 15', {
      maxItemCount: 4,
    });
    expect(window.items).toEqual(all.items.slice(10, 25));
    const inOne = { partitionKey: 'Porto', maxItemCount: 3 };
    const porto = await queryAll<string>(container, 'SELECT VALUE c.id FROM c ORDER BY c.age', inOne);
    const part = await queryAll<string>(container, 'SELECT VALUE c.id FROM c ORDER BY c.age OFFSET 2 LIMIT 8', inOne);
    expect(part.items).toEqual(porto.items.slice(2, 10));
  }));

it('aggregates over all partitions and over one', () =>
  withPeople(async (container) => {
    const ages = people.map(({ age }) => age);
    const sum = ages.reduce((total, age) => total + age, 0);
    const values: [string, unknown][] = [
      ['COUNT(1)', 60],
      ['COUNT(c.missing)', 0],
      ['SUM(c.age)', sum],
      ['MIN(c.age)', 0],
      ['MAX(c.age)', Math.max(...ages)],
      ['AVG(c.age)', sum / 60],
    ];
    for (const [aggregate, value] of values) {
      expect((await queryAll(container, `SELECT VALUE ${aggregate} FROM c`)).items).toEqual([value]);
    }
    expect((await queryAll(container, 'SELECT COUNT(1) AS n, MAX(c.age) AS oldest FROM c')).items).toEqual([
      { n: 60, oldest: Math.max(...ages) },
    ]);
    const inOne = await queryAll(container, 'SELECT VALUE COUNT(1) FROM c', { partitionKey: 'Lyon' });
    expect(inOne.items).toEqual([15]);
  }));

it.each(['COUNT(1)', 'SUM(c.age)', 'MIN(c.age)', 'MAX(c.age)', 'AVG(c.age)'])(
  '%s is the same with an ORDER BY, over all partitions and over one',
  (aggregate) =>
    withPeople(async (container) => {
      for (const options of [{}, { partitionKey: 'Lyon' }]) {
        const plain = await queryAll(container, `SELECT VALUE ${aggregate} FROM c`, options);
        const ordered = await queryAll(container, `SELECT VALUE ${aggregate} FROM c ORDER BY c.age`, options);
        expect(ordered.items).toEqual(plain.items);
        expect(ordered.items).toHaveLength(1);
      }
      const column = await queryAll(container, `SELECT ${aggregate} AS n FROM c ORDER BY c.age DESC`);
      expect(column.items).toHaveLength(1);
    }),
);

it('takes a query without FROM for one result, however many partitions there are', () =>
  withPeople(async (container) => {
    for (const options of [{}, { forceQueryPlan: true }, { partitionKey: 'Lyon' }]) {
      expect((await queryAll(container, 'SELECT VALUE ARRAY_LENGTH([1, 2])', options)).items).toEqual([2]);
    }
  }));

it('groups over all partitions and over one', () =>
  withPeople(async (container) => {
    const query = 'SELECT c.city, COUNT(1) AS n, AVG(c.age) AS mean FROM c GROUP BY c.city';
    const { items } = await queryAll<{ city: string; n: number; mean: number }>(container, query);
    expect(items.map(({ city, n }) => `${city} ${n}`).sort()).toEqual(['Lyon 15', 'Osaka 15', 'Porto 15', 'Quito 15']);
    const lyon = people.filter(({ city }) => city === 'Lyon');
    expect(items.find(({ city }) => city === 'Lyon')?.mean).toBeCloseTo(
      lyon.reduce((sum, { age }) => sum + age, 0) / 15,
    );
    const inOne = await queryAll(container, query, { partitionKey: 'Lyon' });
    expect(inOne.items).toHaveLength(1);
  }));

it('yields distinct values once', () =>
  withPeople(async (container) => {
    const cityNames = await queryAll<string>(container, 'SELECT DISTINCT VALUE c.city FROM c', { maxItemCount: 2 });
    expect(cityNames.items.sort()).toEqual([...cities].sort());
    const tags = await queryAll(container, 'SELECT DISTINCT c.tags FROM c', { partitionKey: 'Porto' });
    expect(tags.items).toEqual([{ tags: ['even'] }]);
  }));

/** The client types it as present. */
function tokenOf({ continuationToken }: { readonly continuationToken: string | undefined }): string | undefined {
  return continuationToken;
}

it('goes on from a continuation token with a new iterator, also after a restart', () =>
  withDirectory(async (directory) => {
    const options = { topology, physicalPartitions: 3 };
    const query = 'SELECT VALUE c.id FROM c WHERE c.age >= 0';
    const nextPage = async ({ container }: Fixture, token: string | undefined) => {
      const iterator = container('people').items.query<string>(query, {
        maxItemCount: 7,
        ...(token === undefined ? {} : { continuationToken: token }),
      });
      return iterator.fetchNext();
    };
    const found: string[] = [];
    let token = await withServerIn(directory, options, async (fixture) => {
      for (const person of people) await fixture.container('people').items.create(person);
      const page = await nextPage(fixture, undefined);
      found.push(...page.resources);
      return tokenOf(page);
    });
    while (token !== undefined) {
      const from = token;
      token = await withServerIn(directory, options, async (fixture) => {
        const page = await nextPage(fixture, from);
        found.push(...page.resources);
        return tokenOf(page);
      });
    }
    expect(found.sort()).toEqual(people.map(({ id }) => id).sort());
  }));

it('resumes an ordered query by token while each page is taken out of the filter', () =>
  withPeople(async (container) => {
    const query = 'SELECT * FROM c WHERE c.age < 40 ORDER BY c.age';
    const found: string[] = [];
    let token: string | undefined;
    do {
      const iterator = container.items.query<Person>(query, {
        maxItemCount: 6,
        enableQueryControl: true,
        ...(token === undefined ? {} : { continuationToken: token }),
      });
      const page = await iterator.fetchNext();
      for (const person of (page.resources as Person[] | undefined) ?? []) {
        found.push(person.id);
        await container.item(person.id, person.city).replace({ ...person, age: 100 });
      }
      token = tokenOf(page);
    } while (token !== undefined);
    expect(found.sort()).toEqual(
      people
        .filter(({ age }) => age < 40)
        .map(({ id }) => id)
        .sort(),
    );
  }));

// Not by two keys: the client's own resume filter loses documents then.
it.each(['c.age', 'c.age DESC'])(
  'goes on by token in the order of %s with a new iterator for each page, without a gap or a repetition',
  (order) =>
    withPeople(async (container) => {
      const found: Person[] = [];
      let token: string | undefined;
      do {
        const iterator = container.items.query<Person>(`SELECT * FROM c ORDER BY ${order}`, {
          maxItemCount: 7,
          enableQueryControl: true,
          ...(token === undefined ? {} : { continuationToken: token }),
        });
        const page = await iterator.fetchNext();
        found.push(...((page.resources as Person[] | undefined) ?? []));
        token = tokenOf(page);
      } while (token !== undefined && found.length < 1000);
      const whole = await queryAll<Person>(container, `SELECT * FROM c ORDER BY ${order}`);
      expect(found.map(({ age }) => age)).toEqual(whole.items.map(({ age }) => age));
      expect(new Set(found.map(({ id }) => id)).size).toBe(people.length);
    }),
);

it('refuses a continuation token of another query and one that is garbage', () =>
  withPeople(async (container) => {
    const page = await container.items.query('SELECT * FROM c', { maxItemCount: 5 }).fetchNext();
    const use = (query: string, continuationToken: string) =>
      statusOf(container.items.query(query, { partitionKey: 'Porto', continuationToken }).fetchNext());
    expect(await use('SELECT c.id FROM c', page.continuationToken)).toBe(400);
    expect(await use('SELECT * FROM c', 'garbage')).toBe(400);
  }));

it('pages through thousands of documents without a gap, and counts them in several turns (V1)', () =>
  withServer({ physicalPartitions: 2 }, async ({ container }) => {
    const orders = container('orders');
    const ids = Array.from({ length: 2500 }, (_, index) => `A-${index}`);
    for (let at = 0; at < ids.length; at += 50) {
      await Promise.all(ids.slice(at, at + 50).map((id) => orders.items.create({ id })));
    }
    const { resources } = await orders.items.readAll<{ id: string }>({ maxItemCount: 1000 }).fetchAll();
    expect(resources.map(({ id }) => id).sort()).toEqual([...ids].sort());
    const unlimited = await queryAll<string>(orders, 'SELECT VALUE c.id FROM c', { maxItemCount: -1 });
    expect(unlimited.items).toHaveLength(2500);
    expect(unlimited.pages).toBeGreaterThanOrEqual(3);
    expect((await queryAll(orders, 'SELECT VALUE COUNT(1) FROM c')).items).toEqual([2500]);
  }));

it('shows in its metrics and charge whether an index served the query', () =>
  withPeople(async (container) => {
    const run = async (query: string) => {
      const page = await container.items.query(query, { populateQueryMetrics: true }).fetchNext();
      const metrics = page.queryMetrics as unknown as { retrievedDocumentCount: number; indexHitRatio: number }[];
      return {
        retrieved: metrics[0]?.retrievedDocumentCount,
        charge: page.requestCharge,
        found: page.resources.length,
      };
    };
    const sought = await run('SELECT * FROM c WHERE c.age = 7');
    const scanned = await run('SELECT * FROM c WHERE c.age + 0 = 7');
    expect(sought.found).toBe(scanned.found);
    expect(sought.retrieved).toBe(sought.found);
    expect(scanned.retrieved).toBe(60);
    expect(scanned.charge).toBeGreaterThan(sought.charge);
  }));
