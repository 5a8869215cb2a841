/**
 * Reads from a WHERE clause what an index can use: equalities and ranges of paths that all must hold.
 *
 * Invariant
 * Q1 Whoever takes up a constraint in full may drop its conjunct; everything else stays in the residual filter.
 */
import type { BinaryOperator, Expression } from './ast.js';
import type { Scope } from './scope.js';
import { compile } from './evaluate.js';
import { isConstant } from './expression-tree.js';
import type { JsonObject, Value } from './values.js';
import { isScalar } from './values.js';

/** An end of a range. */
export interface Bound {
  readonly value: Value;
  readonly inclusive: boolean;
}

/** One conjunct in the form `path = value`, or a range of the path. */
export interface Constraint {
  readonly path: readonly string[];
  readonly conjunct: Expression;
  /** True when the constraint says all that the conjunct says. */
  readonly exact: boolean;
  readonly equals?: Value;
  readonly low?: Bound;
  readonly high?: Bound;
}

const NO_DOCUMENT: JsonObject = {};

/** The parts of a conjunction; a constant true is left out. */
export function conjunctsOf(expression: Expression | undefined): readonly Expression[] {
  if (expression === undefined || (expression.kind === 'literal' && expression.value === true)) return [];
  const parts: Expression[] = [];
  const pending: Expression[] = [expression];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (next.kind === 'binary' && next.operator === 'AND') pending.push(next.right, next.left);
    else if (!(next.kind === 'literal' && next.value === true)) parts.push(next);
  }
  return parts;
}

/** The property names of a path expression; undefined for anything else. */
export function propertyPath(expression: Expression | undefined): readonly string[] | undefined {
  if (expression?.kind !== 'path' || expression.steps.length === 0) return undefined;
  return expression.steps.every((step) => typeof step === 'string') ? expression.steps : undefined;
}

const MIRRORED: Readonly<Partial<Record<BinaryOperator, BinaryOperator>>> = {
  '=': '=',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
};

/** The smallest value of the type: a range never leaves its type. */
function typeMinimum(value: Value): Bound | undefined {
  if (typeof value === 'string') return { value: '', inclusive: true };
  if (typeof value === 'number') return { value: -Infinity, inclusive: true };
  return typeof value === 'boolean' ? { value: false, inclusive: true } : undefined;
}

/** The upper end of the type; the empty array is the first value above all strings. */
function typeMaximum(value: Value): Bound | undefined {
  if (typeof value === 'string') return { value: [], inclusive: false };
  if (typeof value === 'number') return { value: Infinity, inclusive: true };
  return typeof value === 'boolean' ? { value: true, inclusive: true } : undefined;
}

function rangeOf(operator: BinaryOperator, value: Value): { readonly low: Bound; readonly high: Bound } | undefined {
  const minimum = typeMinimum(value);
  const maximum = typeMaximum(value);
  if (minimum === undefined || maximum === undefined) return undefined;
  const bound: Bound = { value, inclusive: operator === '<=' || operator === '>=' };
  return operator.startsWith('<') ? { low: minimum, high: bound } : { low: bound, high: maximum };
}

/** `path operator value`, turned round when it was written `value operator path`. */
function sidesOf(
  conjunct: Extract<Expression, { kind: 'binary' }>,
): { readonly path: readonly string[]; readonly operator: BinaryOperator; readonly other: Expression } | undefined {
  const mirrored = MIRRORED[conjunct.operator];
  if (mirrored === undefined) return undefined;
  const left = propertyPath(conjunct.left);
  if (left !== undefined) return { path: left, operator: conjunct.operator, other: conjunct.right };
  const right = propertyPath(conjunct.right);
  return right === undefined ? undefined : { path: right, operator: mirrored, other: conjunct.left };
}

function ofComparison(conjunct: Extract<Expression, { kind: 'binary' }>, scope: Scope): Constraint | undefined {
  const sides = sidesOf(conjunct);
  if (sides === undefined || !isConstant(sides.other)) return undefined;
  const { path, operator } = sides;
  const value = compile(sides.other, scope)(NO_DOCUMENT);
  if (value === undefined || !isScalar(value)) return undefined;
  if (operator === '=') return { path, conjunct, exact: true, equals: value };
  const range = rangeOf(operator, value);
  return range === undefined ? undefined : { path, conjunct, exact: true, ...range };
}

function ofBetween(conjunct: Extract<Expression, { kind: 'between' }>, scope: Scope): Constraint | undefined {
  const path = propertyPath(conjunct.operand);
  if (path === undefined || !isConstant(conjunct.low) || !isConstant(conjunct.high)) return undefined;
  const low = compile(conjunct.low, scope)(NO_DOCUMENT);
  const high = compile(conjunct.high, scope)(NO_DOCUMENT);
  if (typeof low !== typeof high || typeMinimum(low) === undefined) return undefined;
  return { path, conjunct, exact: true, low: { value: low, inclusive: true }, high: { value: high, inclusive: true } };
}

function ofCall(conjunct: Extract<Expression, { kind: 'call' }>, scope: Scope): Constraint | undefined {
  const [first, second] = conjunct.arguments;
  const path = propertyPath(first);
  if (path === undefined) return undefined;
  if (conjunct.name === 'IS_NULL' && conjunct.arguments.length === 1)
    return { path, conjunct, exact: true, equals: null };
  if (conjunct.name !== 'STARTSWITH' || second === undefined || conjunct.arguments.length !== 2 || !isConstant(second))
    return undefined;
  const prefix = compile(second, scope)(NO_DOCUMENT);
  if (typeof prefix !== 'string') return undefined;
  return {
    path,
    conjunct,
    exact: false,
    low: { value: prefix, inclusive: true },
    high: { value: `${prefix}\uffff`, inclusive: true },
  };
}

/** The constraint a conjunct states, if it is of a form that indexes know. */
export function constraintOf(conjunct: Expression, scope: Scope): Constraint | undefined {
  switch (conjunct.kind) {
    case 'binary':
      return ofComparison(conjunct, scope);
    case 'between':
      return ofBetween(conjunct, scope);
    case 'call':
      return ofCall(conjunct, scope);
    default:
      return undefined;
  }
}
