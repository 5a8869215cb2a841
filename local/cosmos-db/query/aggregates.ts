/** COUNT, SUM, MIN, MAX and AVG over documents, and the groups of GROUP BY. */
import { badQuery } from '../wire-errors.js';
import type { AggregateName, Expression } from './ast.js';
import type { Evaluator, Scope } from './scope.js';
import { compile } from './evaluate.js';
import { childrenOf } from './expression-tree.js';
import type { JsonObject, Value } from './values.js';
import { compareValues, isScalar } from './values.js';

/** Collects one aggregate. */
interface Accumulator {
  add(value: Value): void;
  result(): Value;
}

function count(): Accumulator {
  let total = 0;
  return {
    add: (value) => {
      if (value !== undefined) total += 1;
    },
    result: () => total,
  };
}

/** SUM and AVG are undefined as soon as one defined value is no number. */
function numbers(finish: (sum: number, total: number) => Value): Accumulator {
  let sum = 0;
  let total = 0;
  let isNumeric = true;
  return {
    add: (value) => {
      if (value === undefined) return;
      if (typeof value !== 'number') isNumeric = false;
      else {
        sum += value;
        total += 1;
      }
    },
    result: () => (isNumeric ? finish(sum, total) : undefined),
  };
}

/** MIN (side 1) and MAX (side -1); undefined when an array or object takes part. */
function extreme(side: 1 | -1): Accumulator {
  let best: Value;
  let isValid = true;
  return {
    add: (value) => {
      if (value === undefined) return;
      if (!isScalar(value)) isValid = false;
      else if (best === undefined || compareValues(value, best) * side < 0) best = value;
    },
    result: () => (isValid ? best : undefined),
  };
}

const ACCUMULATORS: Readonly<Record<AggregateName, () => Accumulator>> = {
  COUNT: count,
  SUM: () => numbers((sum) => sum),
  AVG: () => numbers((sum, total) => (total === 0 ? undefined : sum / total)),
  MIN: () => extreme(1),
  MAX: () => extreme(-1),
};

/** True when an aggregate function occurs in the expression. */
export function hasAggregate(expression: Expression): boolean {
  return expression.kind === 'aggregate' || childrenOf(expression).some(hasAggregate);
}

interface Slot {
  readonly key: string;
  readonly name: AggregateName;
  readonly argument: Evaluator;
}

/** Replaces aggregates by properties of the row that the group yields, and lists them. */
function extract(expression: Expression, scope: Scope, slots: Slot[]): Expression {
  switch (expression.kind) {
    case 'aggregate': {
      if (hasAggregate(expression.argument)) throw badQuery('Aggregate functions cannot be nested.');
      const key = `aggregate ${slots.length}`;
      slots.push({ key, name: expression.name, argument: compile(expression.argument, scope) });
      return { kind: 'path', steps: [ROW_AGGREGATES, key] };
    }
    case 'binary':
      return {
        ...expression,
        left: extract(expression.left, scope, slots),
        right: extract(expression.right, scope, slots),
      };
    case 'unary':
      return { ...expression, operand: extract(expression.operand, scope, slots) };
    case 'array':
      return { ...expression, items: expression.items.map((item) => extract(item, scope, slots)) };
    case 'object':
      return {
        ...expression,
        entries: expression.entries.map((entry) => ({ ...entry, value: extract(entry.value, scope, slots) })),
      };
    default:
      if (hasAggregate(expression)) throw badQuery('An aggregate function is not supported inside this expression.');
      return expression;
  }
}

/** Where a group's row keeps the aggregates; no document has a property of this name. */
const ROW_AGGREGATES = '\0aggregates';

/** Collects documents into groups and yields one result a group. */
export interface Grouping {
  add(document: JsonObject): void;
  results(): readonly Value[];
}

interface Group {
  readonly first: JsonObject;
  readonly accumulators: readonly Accumulator[];
}

/** A grouping by the keys; without keys there is one group, even over no documents. */
export function createGrouping(selection: Expression, keys: readonly Expression[], scope: Scope): Grouping {
  const slots: Slot[] = [];
  const yieldRow = compile(extract(selection, scope, slots), scope);
  const keyEvaluators = keys.map((key) => compile(key, scope));
  const groups = new Map<string, Group>();
  const groupOf = (document: JsonObject): Group => {
    const name = JSON.stringify(keyEvaluators.map((key) => ({ value: key(document) })));
    const known = groups.get(name);
    if (known !== undefined) return known;
    const group = { first: document, accumulators: slots.map(({ name: aggregate }) => ACCUMULATORS[aggregate]()) };
    groups.set(name, group);
    return group;
  };
  if (keys.length === 0) groupOf({});
  return {
    add(document) {
      const { accumulators } = groupOf(document);
      for (const [index, { argument }] of slots.entries()) accumulators[index]?.add(argument(document));
    },
    results: () =>
      [...groups.values()].map(({ first, accumulators }) => {
        const values = slots.map(({ key }, index) => [key, accumulators[index]?.result()] as const);
        const aggregates = Object.fromEntries(
          values.filter((entry): entry is [string, Exclude<Value, undefined>] => entry[1] !== undefined),
        );
        return yieldRow({ ...first, [ROW_AGGREGATES]: aggregates });
      }),
  };
}
