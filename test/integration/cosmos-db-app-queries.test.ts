/** The queries of the starter, the supervisor and the operator, over several physical partitions. */
import type { Container } from '@azure/cosmos';
import { expect, it } from 'vitest';
import { queryAll, withServer } from '../support/cosmos-db.js';

interface Stored {
  readonly id: string;
  readonly processState?: string;
  readonly lockedBy?: string | null;
  readonly notBefore: string;
  readonly completeBy: string | null;
}

function time(second: number): string {
  return new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
}

/** 120 records: every third Pending, every ninth of all locked, and three odd ones. */
async function fill(records: Container): Promise<Stored[]> {
  const regular = Array.from({ length: 120 }, (_, index): Stored => {
    const pending = index % 3 === 0;
    return {
      id: `A-${index}`,
      processState: pending ? 'Pending' : 'Processing',
      lockedBy: pending && index % 9 !== 0 ? null : `A-${index}.1`,
      notBefore: time((index * 37) % 120),
      completeBy: pending ? null : time((index * 53) % 120),
    };
  });
  const odd: Stored[] = [
    { id: 'no-lock', processState: 'Pending', notBefore: time(5), completeBy: null },
    { id: 'no-state', notBefore: time(6), completeBy: null },
    { id: 'lower-case', processState: 'processing', lockedBy: 'x', notBefore: time(7), completeBy: time(1) },
  ];
  for (const record of [...regular, ...odd]) await records.items.create(record);
  return [...regular, ...odd];
}

const starterQuery =
  'SELECT * FROM c WHERE c.processState = @state AND (IS_NULL(c.lockedBy) OR NOT IS_DEFINED(c.lockedBy)) ' +
  'AND c.notBefore <= @now ORDER BY c.processState, c.notBefore';

it('pages the pending records that are due, oldest first, over two partitions (C12)', () =>
  withServer({}, async ({ container }) => {
    const all = await fill(container('order-state'));
    const parameters = [
      { name: '@state', value: 'Pending' },
      { name: '@now', value: time(60) },
    ];
    const due = all.filter(
      (r) => r.processState === 'Pending' && (r.lockedBy ?? null) === null && r.notBefore <= time(60),
    );
    const found = await queryAll<Stored>(
      container('order-state'),
      { query: starterQuery, parameters },
      { maxItemCount: 5 },
    );
    expect(found.items.map(({ notBefore }) => notBefore)).toEqual(due.map(({ notBefore }) => notBefore).sort());
    expect(found.pages).toBeGreaterThan(2);
  }));

it('finds what each page leaves when the page before it was claimed', () =>
  withServer({}, async ({ container }) => {
    const records = container('order-state');
    const all = await fill(records);
    const parameters = [
      { name: '@state', value: 'Pending' },
      { name: '@now', value: time(200) },
    ];
    const due = all.filter((r) => r.processState === 'Pending' && (r.lockedBy ?? null) === null);
    const found = await queryAll<Stored>(
      records,
      { query: starterQuery, parameters },
      { maxItemCount: 4 },
      async (page) => {
        for (const record of (page.resources as Stored[] | undefined) ?? []) {
          await records.item(record.id, record.id).replace({ ...record, processState: 'Processing', lockedBy: 'me' });
        }
      },
    );
    expect(found.items.map(({ id }) => id).sort()).toEqual(due.map(({ id }) => id).sort());
  }));

it('finds expired records inside the window and no other, by an index seek', () =>
  withServer({}, async ({ container }) => {
    const all = await fill(container('order-state'));
    const query =
      'SELECT * FROM c WHERE c.processState = @state AND c.completeBy < @before AND c.completeBy >= @from ' +
      'ORDER BY c.processState, c.completeBy';
    const parameters = [
      { name: '@state', value: 'Processing' },
      { name: '@before', value: time(40) },
      { name: '@from', value: time(10) },
    ];
    const expired = all.filter(
      (r) =>
        r.processState === 'Processing' && r.completeBy !== null && r.completeBy < time(40) && r.completeBy >= time(10),
    );
    const found = await queryAll<Stored>(container('order-state'), { query, parameters }, { maxItemCount: 7 });
    expect(found.items.map(({ completeBy }) => completeBy)).toEqual(expired.map(({ completeBy }) => completeBy).sort());
  }));

it('counts and finds records with an unknown or missing state (C42)', () =>
  withServer({}, async ({ container }) => {
    await fill(container('order-state'));
    const odd = "NOT (c.processState IN ('Pending', 'Processing')) OR NOT IS_DEFINED(c.processState)";
    const found = await queryAll<string>(container('order-state'), `SELECT VALUE c.id FROM c WHERE ${odd}`);
    expect(found.items.sort()).toEqual(['lower-case', 'no-state']);
    const counted = await queryAll<number>(container('order-state'), `SELECT VALUE COUNT(1) FROM c WHERE ${odd}`);
    expect(counted.items).toEqual([2]);
    const byState = await queryAll(
      container('order-state'),
      'SELECT c.processState, COUNT(1) AS n FROM c GROUP BY c.processState',
    );
    expect(byState.items).toHaveLength(4);
    expect(byState.items).toContainEqual({ processState: 'Pending', n: 41 });
  }));

it('charges a supervisor query by what it finds, not by what is stored', () =>
  withServer({}, async ({ container }) => {
    const records = container('order-state');
    const query = {
      query:
        "SELECT * FROM c WHERE c.processState = 'Processing' AND c.completeBy < @before ORDER BY c.processState, c.completeBy",
      parameters: [{ name: '@before', value: time(0) }],
    };
    const empty = await queryAll(records, query);
    await fill(records);
    const filled = await queryAll(records, query);
    expect(filled.items).toHaveLength(0);
    expect(filled.charge).toBe(empty.charge);
  }));
