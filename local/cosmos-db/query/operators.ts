/** The operators of scalar expressions over compiled operands. The rules are E1 and E2 of evaluate.ts. */
import type { BinaryOperator, UnaryOperator } from './ast.js';
import type { Evaluator } from './scope.js';
import { compareValues, equalValues, isComparable, readMember } from './values.js';

/** NOT, and the signs of numbers. */
export function compileUnary(operator: UnaryOperator, operand: Evaluator): Evaluator {
  if (operator === 'NOT') {
    return (document) => {
      const value = operand(document);
      return typeof value === 'boolean' ? !value : undefined;
    };
  }
  const apply =
    operator === '-'
      ? (value: number) => -value
      : operator === '~'
        ? (value: number) => ~value
        : (value: number) => value;
  return (document) => {
    const value = operand(document);
    return typeof value === 'number' ? apply(value) : undefined;
  };
}

const ARITHMETIC: Readonly<Partial<Record<BinaryOperator, (left: number, right: number) => number>>> = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / right,
  '%': (left, right) => left % right,
  '|': (left, right) => left | right,
  '&': (left, right) => left & right,
  '^': (left, right) => left ^ right,
  '<<': (left, right) => left << right,
  '>>': (left, right) => left >> right,
  '>>>': (left, right) => left >>> right,
};

const ORDERING: Readonly<Partial<Record<BinaryOperator, (order: number) => boolean>>> = {
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};

/** An operator between two operands. */
export function compileBinary(operator: BinaryOperator, left: Evaluator, right: Evaluator): Evaluator {
  const arithmetic = ARITHMETIC[operator];
  if (arithmetic !== undefined) return compileArithmetic(arithmetic, left, right);
  const ordering = ORDERING[operator];
  if (ordering !== undefined) return compileOrdering(ordering, left, right);
  switch (operator) {
    case 'AND':
      return compileLogic(false, left, right);
    case 'OR':
      return compileLogic(true, left, right);
    case '??':
      return compileCoalescing(left, right);
    case '||':
      return compileConcatenation(left, right);
    default:
      return compileEquality(operator === '=', left, right);
  }
}

function compileArithmetic(
  apply: (left: number, right: number) => number,
  left: Evaluator,
  right: Evaluator,
): Evaluator {
  return (document) => {
    const a = left(document);
    const b = right(document);
    if (typeof a !== 'number' || typeof b !== 'number') return undefined;
    const result = apply(a, b);
    return Number.isFinite(result) ? result : undefined;
  };
}

function compileOrdering(holds: (order: number) => boolean, left: Evaluator, right: Evaluator): Evaluator {
  return (document) => {
    const a = left(document);
    const b = right(document);
    return isComparable(a, b) ? holds(compareValues(a, b)) : undefined;
  };
}

function compileEquality(wanted: boolean, left: Evaluator, right: Evaluator): Evaluator {
  return (document) => {
    const a = left(document);
    const b = right(document);
    return a === undefined || b === undefined ? undefined : equalValues(a, b) === wanted;
  };
}

/** AND is decided by one false, OR by one true (E1). */
function compileLogic(deciding: boolean, left: Evaluator, right: Evaluator): Evaluator {
  return (document) => {
    const a = left(document);
    if (a === deciding) return deciding;
    const b = right(document);
    if (b === deciding) return deciding;
    return typeof a === 'boolean' && typeof b === 'boolean' ? !deciding : undefined;
  };
}

/** The right side stands in for undefined only: null is a value. */
function compileCoalescing(left: Evaluator, right: Evaluator): Evaluator {
  return (document) => {
    const value = left(document);
    return value === undefined ? right(document) : value;
  };
}

function compileConcatenation(left: Evaluator, right: Evaluator): Evaluator {
  return (document) => {
    const a = left(document);
    const b = right(document);
    return typeof a === 'string' && typeof b === 'string' ? a + b : undefined;
  };
}

/** `operand IN (choices)`. */
export function compileIn(operand: Evaluator, choices: readonly Evaluator[]): Evaluator {
  return (document) => {
    const value = operand(document);
    return value === undefined ? undefined : choices.some((choice) => equalValues(value, choice(document)));
  };
}

/** `operand BETWEEN low AND high`, both ends included. */
export function compileBetween(operand: Evaluator, low: Evaluator, high: Evaluator): Evaluator {
  return compileLogic(
    false,
    compileOrdering((order) => order >= 0, operand, low),
    compileOrdering((order) => order <= 0, operand, high),
  );
}

/** `object[key]`. */
export function compileMember(object: Evaluator, key: Evaluator): Evaluator {
  return (document) => {
    const name = key(document);
    return typeof name === 'string' || typeof name === 'number' ? readMember(object(document), name) : undefined;
  };
}

/** `[items]`; undefined items are left out. */
export function compileArray(items: readonly Evaluator[]): Evaluator {
  return (document) => items.map((item) => item(document)).filter((value) => value !== undefined);
}
