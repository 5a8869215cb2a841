/** Random operations, restarts between them: what the server holds is what a model of it holds. */
import fc from 'fast-check';
import type { Container, OperationInput } from '@azure/cosmos';
import { expect, it } from 'vitest';
import { queryAll, statusOf, topologyOf, withDirectory, withServerIn } from '../support/cosmos-db.js';

const topology = topologyOf({ things: { partitionKey: '/owner' } });

interface Thing {
  readonly id: string;
  readonly owner: string;
  readonly n: number;
}

/** What an operation is on, and the number it writes. */
type Step =
  | { readonly kind: 'create' | 'upsert' | 'replace' | 'delete' | 'staleReplace' | 'increment'; readonly thing: Thing }
  | { readonly kind: 'batch'; readonly things: readonly Thing[] }
  | { readonly kind: 'restart' };

const thing = fc.record({
  id: fc.constantFrom('a', 'b', 'c'),
  owner: fc.constantFrom('x', 'y'),
  n: fc.nat(9),
});

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constantFrom('create' as const, 'upsert' as const, 'replace' as const), thing }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('delete' as const, 'staleReplace' as const, 'increment' as const),
      thing,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('batch' as const),
      things: fc.array(thing, { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
);

type Model = Map<string, Thing>;

function keyOf({ id, owner }: Thing): string {
  return `${owner}/${id}`;
}

async function runBatch(container: Container, model: Model, things: readonly Thing[]): Promise<void> {
  const owner = things[0]?.owner ?? '';
  const mine = things.map((one) => ({ ...one, owner }));
  const operations = mine.map((resourceBody): OperationInput => ({
    operationType: 'Create',
    resourceBody: { ...resourceBody },
  }));
  const keys = mine.map(keyOf);
  const isPossible = new Set(keys).size === keys.length && !keys.some((key) => model.has(key));
  const { code } = await container.items.batch(operations, owner);
  expect(code).toBe(isPossible ? 200 : 207);
  if (isPossible) for (const one of mine) model.set(keyOf(one), one);
}

type OneKind = Extract<Step, { thing: Thing }>['kind'];

/** What is done to one item, and what it was before. */
interface Situation {
  readonly container: Container;
  readonly model: Model;
  readonly wanted: Thing;
  readonly present: Thing | undefined;
}

async function changePresent(
  { model, wanted, present }: Situation,
  operation: Promise<unknown>,
  next: Thing | undefined,
): Promise<void> {
  expect(await statusOf(operation)).toBe(present === undefined ? 404 : undefined);
  if (next === undefined) model.delete(keyOf(wanted));
  else if (present !== undefined) model.set(keyOf(wanted), next);
}

function itemOf({ container, wanted }: Situation) {
  return container.item(wanted.id, wanted.owner);
}

const runs: Readonly<Record<OneKind, (situation: Situation) => Promise<void>>> = {
  async create({ container, model, wanted, present }) {
    expect(await statusOf(container.items.create(wanted))).toBe(present === undefined ? undefined : 409);
    if (present === undefined) model.set(keyOf(wanted), wanted);
  },
  async upsert({ container, model, wanted, present }) {
    expect((await container.items.upsert(wanted)).statusCode).toBe(present === undefined ? 201 : 200);
    model.set(keyOf(wanted), wanted);
  },
  async staleReplace(situation) {
    const { wanted, present } = situation;
    const stale = { accessCondition: { type: 'IfMatch', condition: '"stale"' } };
    expect(await statusOf(itemOf(situation).replace(wanted, stale))).toBe(present === undefined ? 404 : 412);
  },
  replace: (situation) => changePresent(situation, itemOf(situation).replace(situation.wanted), situation.wanted),
  delete: (situation) => changePresent(situation, itemOf(situation).delete(), undefined),
  increment: (situation) => {
    const { wanted, present } = situation;
    const operation = itemOf(situation).patch([{ op: 'incr', path: '/n', value: wanted.n }]);
    return changePresent(situation, operation, { ...wanted, ...present, n: (present?.n ?? 0) + wanted.n });
  },
};

async function expectSame(container: Container, model: Model): Promise<void> {
  const { items } = await queryAll<Thing>(container, 'SELECT c.id, c.owner, c.n FROM c');
  const sorted = (things: Iterable<Thing>): Thing[] =>
    [...things].sort((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1));
  expect(sorted(items)).toEqual(sorted(model.values()));
  for (const wanted of model.values()) {
    expect((await container.item(wanted.id, wanted.owner).read()).resource).toMatchObject(wanted);
  }
}

it('holds exactly what its model holds, over restarts', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), (steps) =>
      withDirectory(async (directory) => {
        const model: Model = new Map();
        const rest = [...steps];
        do {
          await withServerIn(directory, { topology }, async ({ container }) => {
            await expectSame(container('things'), model);
            for (let next = rest.shift(); next !== undefined && next.kind !== 'restart'; next = rest.shift()) {
              if (next.kind === 'batch') await runBatch(container('things'), model, next.things);
              else {
                const { kind, thing: wanted } = next;
                await runs[kind]({ container: container('things'), model, wanted, present: model.get(keyOf(wanted)) });
              }
            }
            await expectSame(container('things'), model);
          });
        } while (rest.length > 0);
      }),
    ),
    { numRuns: 40, seed: 20260102 },
  );
});
