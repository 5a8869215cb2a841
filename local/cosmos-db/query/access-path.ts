/**
 * Chooses how a query gets at its documents: which index, which part of it, in which direction.
 *
 * Invariants
 * A1 ORDER BY needs an index, as in the service: one path its range index, several paths a composite index of just these
 *    paths in these directions or in the opposite ones.
 * A2 The chosen part of the index holds every document that the query can yield.
 */
import type { Container } from '../store/container.js';
import type { IndexOrder } from '../store/index-set.js';
import { orderOf } from '../store/index-set.js';
import type { IndexPath } from '../store/indexing-policy.js';
import type { PartitionKeyValue } from '../store/partition-key.js';
import { badQuery } from '../wire-errors.js';
import type { Expression, OrderTerm, Query } from './ast.js';
import type { Bound, Constraint } from './constraints.js';
import { conjunctsOf, constraintOf, propertyPath } from './constraints.js';
import type { Scope } from './scope.js';
import type { Value } from './values.js';
import { compareValues } from './values.js';

/** A way to the documents of one physical partition. */
export interface AccessPath {
  /** The index that is walked. */
  readonly index: IndexOrder;
  /** Values of the index's first paths. */
  readonly prefix: readonly Value[];
  /** Range of the path after the prefix. */
  readonly low?: Bound;
  readonly high?: Bound;
  readonly descending: boolean;
  /** The order of the results; positions in continuation tokens are places in it. */
  readonly order: IndexOrder;
  /** True when the walk along the index does not yield that order. */
  readonly sorts: boolean;
  /** What the index does not guarantee. */
  readonly residual: readonly Expression[];
  /** True when the index narrows the documents down. */
  readonly seeks: boolean;
}

interface Candidate {
  readonly paths: readonly IndexPath[];
  readonly equalities: readonly Constraint[];
  readonly ranges: readonly Constraint[];
  readonly descending: boolean;
  readonly ordered: boolean;
  readonly score: number;
}

function samePath(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((segment, index) => segment === right[index]);
}

function termPath(term: OrderTerm): readonly string[] {
  const path = propertyPath(term.expression);
  if (path === undefined)
    throw badQuery('Unsupported ORDER BY clause. ORDER BY item expression could not be mapped to a document path.');
  return path;
}

/** A1. */
function checkOrderBy(container: Container, terms: readonly IndexPath[]): void {
  const policy = container.definition.indexingPolicy;
  const [first] = terms;
  if (first === undefined) return;
  if (terms.length === 1) {
    if (!policy.isIndexed(first.path))
      throw badQuery('The index path corresponding to the specified order-by item is excluded.');
    return;
  }
  const fits = policy.composites.some(
    (composite) =>
      composite.length === terms.length &&
      composite.every(({ path }, index) => samePath(path, terms[index]?.path ?? [])) &&
      new Set(composite.map(({ descending }, index) => descending === terms[index]?.descending)).size === 1,
  );
  if (!fits)
    throw badQuery('The order by query does not have a corresponding composite index that it can be served from.');
}

/** Whether walking the paths after the equalities yields the order, and in which direction. */
function walkDirection(
  paths: readonly IndexPath[],
  equalities: readonly Constraint[],
  terms: readonly IndexPath[],
): 'ascending' | 'descending' | undefined {
  const isFixed = (path: readonly string[]): boolean =>
    equalities.some((constraint) => samePath(constraint.path, path));
  const [first] = terms;
  if (first === undefined) return 'ascending';
  const tieDescending = paths[0]?.descending ?? false;
  const turned = first.descending !== tieDescending;
  const rest = paths.slice(equalities.length);
  const free = terms.filter(({ path }) => !isFixed(path));
  const fits =
    free.length === rest.length &&
    free.every(({ path, descending }, index) => {
      const next = rest[index];
      return next !== undefined && samePath(next.path, path) && (next.descending !== descending) === turned;
    });
  if (!fits) return undefined;
  return turned ? 'descending' : 'ascending';
}

function consider(
  paths: readonly IndexPath[],
  constraints: readonly Constraint[],
  terms: readonly IndexPath[],
): Candidate {
  const equalities: Constraint[] = [];
  for (const { path } of paths) {
    const equality = constraints.find((constraint) => 'equals' in constraint && samePath(constraint.path, path));
    if (equality === undefined) break;
    equalities.push(equality);
  }
  const next = paths[equalities.length];
  const ranges =
    next === undefined
      ? []
      : constraints.filter((constraint) => !('equals' in constraint) && samePath(constraint.path, next.path));
  const direction = walkDirection(paths, equalities, terms);
  const score =
    equalities.length * 4 + (ranges.length > 0 ? 2 : 0) + (direction !== undefined && terms.length > 0 ? 3 : 0);
  return { paths, equalities, ranges, descending: direction === 'descending', ordered: direction !== undefined, score };
}

/** The tighter of two lower ends (`side` 1) or of two upper ends (`side` -1). */
function tighter(left: Bound | undefined, right: Bound | undefined, side: 1 | -1): Bound | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  const order = compareValues(left.value, right.value) * side;
  if (order === 0) return left.inclusive ? right : left;
  return order > 0 ? left : right;
}

function candidatesOf(
  container: Container,
  constraints: readonly Constraint[],
  terms: readonly IndexPath[],
): readonly (readonly IndexPath[])[] {
  const policy = container.definition.indexingPolicy;
  const single = [...constraints.map(({ path }) => path), ...terms.map(({ path }) => path)].filter((path) =>
    policy.isIndexed(path),
  );
  return [...policy.composites, ...single.map((path) => [{ path, descending: false }])];
}

/** The walk over all documents in creation order. */
const NO_PATHS: readonly IndexPath[] = [];

function choose(container: Container, constraints: readonly Constraint[], terms: readonly IndexPath[]): Candidate {
  return candidatesOf(container, constraints, terms)
    .map((paths) => consider(paths, constraints, terms))
    .reduce(
      (best, candidate) => (candidate.score > best.score ? candidate : best),
      consider(NO_PATHS, constraints, terms),
    );
}

/** The walk over one logical partition: the index on the partition key, which always exists. */
function logicalPartition(container: Container, key: PartitionKeyValue, terms: readonly IndexPath[]): AccessPath {
  const slotOf = (path: readonly string[]): number => container.slotOf(path);
  const index = orderOf([{ path: container.definition.partitionKeyPath, descending: false }], slotOf);
  return {
    index,
    order: terms.length === 0 ? index : orderOf(terms, slotOf),
    sorts: terms.length > 0,
    prefix: [key],
    descending: false,
    residual: [],
    seeks: true,
  };
}

function toAccessPath(
  container: Container,
  candidate: Candidate,
  terms: readonly IndexPath[],
): Omit<AccessPath, 'residual'> {
  const slotOf = (path: readonly string[]): number => container.slotOf(path);
  const low = candidate.ranges.reduce<Bound | undefined>(
    (bound, constraint) => tighter(bound, constraint.low, 1),
    undefined,
  );
  const high = candidate.ranges.reduce<Bound | undefined>(
    (bound, constraint) => tighter(bound, constraint.high, -1),
    undefined,
  );
  const index = orderOf(candidate.paths, slotOf);
  return {
    index,
    order: terms.length === 0 ? index : orderOf(terms, slotOf),
    sorts: !candidate.ordered,
    prefix: candidate.equalities.map((constraint) => constraint.equals),
    descending: candidate.descending,
    seeks: candidate.equalities.length + candidate.ranges.length > 0,
    ...(low === undefined ? {} : { low }),
    ...(high === undefined ? {} : { high }),
  };
}

/** What narrows a query down beside its text. */
export interface LogicalPartition {
  readonly key: PartitionKeyValue;
}

/** Chooses the way for a query, over one logical partition or over a whole physical one. */
export function chooseAccessPath(
  container: Container,
  query: Query,
  scope: Scope,
  partition: LogicalPartition | undefined,
): AccessPath {
  const terms = query.orderBy.map((term) => ({ path: termPath(term), descending: term.descending }));
  checkOrderBy(container, terms);
  const conjuncts = conjunctsOf(query.where?.expression);
  if (partition !== undefined) return { ...logicalPartition(container, partition.key, terms), residual: conjuncts };
  const constraints = conjuncts
    .map((conjunct) => constraintOf(conjunct, scope))
    .filter((constraint) => constraint !== undefined);
  const candidate = choose(container, constraints, terms);
  const used = [...candidate.equalities, ...candidate.ranges]
    .filter(({ exact }) => exact)
    .map(({ conjunct }) => conjunct);
  return {
    ...toAccessPath(container, candidate, terms),
    residual: conjuncts.filter((conjunct) => !used.includes(conjunct)),
  };
}
