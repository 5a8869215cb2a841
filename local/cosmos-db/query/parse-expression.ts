/** Parses scalar expressions by precedence climbing. */
import { notSupported } from '../wire-errors.js';
import type { AggregateName, BinaryOperator, Expression, ObjectEntry } from './ast.js';
import type { Cursor } from './cursor.js';
import { unquote } from './lexer.js';

const PRECEDENCE: Readonly<Record<string, number>> = {
  '??': 1,
  OR: 2,
  AND: 3,
  '=': 5,
  '!=': 5,
  '<>': 5,
  '<': 5,
  '<=': 5,
  '>': 5,
  '>=': 5,
  '|': 6,
  '^': 7,
  '&': 8,
  '<<': 9,
  '>>': 9,
  '>>>': 9,
  '||': 10,
  '+': 11,
  '-': 11,
  '*': 12,
  '/': 12,
  '%': 12,
};
const PRECEDENCE_OF_NOT = 4;
/** IN, BETWEEN and LIKE bind like a comparison. */
const PRECEDENCE_OF_TESTS = 5;

const AGGREGATES: readonly string[] = ['COUNT', 'SUM', 'MIN', 'MAX', 'AVG'] satisfies readonly AggregateName[];

const LITERALS: Readonly<Record<string, Expression>> = {
  TRUE: { kind: 'literal', value: true },
  FALSE: { kind: 'literal', value: false },
  NULL: { kind: 'literal', value: null },
  UNDEFINED: { kind: 'undefined' },
};

/** Parses one whole expression. */
export function parseExpression(cursor: Cursor): Expression {
  return cursor.nested(() => {
    const test = parseBinary(cursor, 1);
    if (!cursor.accept('?')) return test;
    const then = parseExpression(cursor);
    cursor.expect(':');
    return { kind: 'conditional', test, then, otherwise: parseExpression(cursor) };
  });
}

/** The binary operator at the cursor, when it binds at least so tightly. */
function binaryOperatorAt(
  cursor: Cursor,
  minimum: number,
): { readonly text: string; readonly precedence: number } | undefined {
  const token = cursor.peek();
  if (token.kind !== 'name' && token.kind !== 'symbol') return undefined;
  const text = token.kind === 'name' ? token.upper : token.text;
  const precedence = PRECEDENCE[text] ?? 0;
  return precedence === 0 || precedence < minimum ? undefined : { text, precedence };
}

function parseBinary(cursor: Cursor, minimum: number): Expression {
  let left = parseUnary(cursor);
  for (;;) {
    const tested = minimum <= PRECEDENCE_OF_TESTS ? parseTest(cursor, left) : undefined;
    const found = tested === undefined ? binaryOperatorAt(cursor, minimum) : undefined;
    if (tested !== undefined) left = tested;
    else if (found === undefined) return left;
    else {
      cursor.next();
      cursor.countOperator();
      const operator = (found.text === '<>' ? '!=' : found.text) as BinaryOperator;
      left = { kind: 'binary', operator, left, right: parseBinary(cursor, found.precedence + 1) };
    }
  }
}

/** `[NOT] IN (…)`, `[NOT] BETWEEN … AND …` and `[NOT] LIKE …` after an operand. */
function parseTest(cursor: Cursor, operand: Expression): Expression | undefined {
  const negated = cursor.isAt('NOT') && /^(IN|BETWEEN|LIKE)$/.test(cursor.peek(1).upper);
  if (negated) cursor.next();
  const test = parsePlainTest(cursor, operand);
  if (test !== undefined) cursor.countOperator();
  return test !== undefined && negated ? { kind: 'unary', operator: 'NOT', operand: test } : test;
}

function parsePlainTest(cursor: Cursor, operand: Expression): Expression | undefined {
  if (cursor.accept('IN')) {
    cursor.expect('(');
    return { kind: 'in', operand, choices: parseList(cursor, ')') };
  }
  if (cursor.accept('BETWEEN')) {
    const low = parseBinary(cursor, PRECEDENCE_OF_TESTS + 1);
    cursor.expect('AND');
    return { kind: 'between', operand, low, high: parseBinary(cursor, PRECEDENCE_OF_TESTS + 1) };
  }
  if (cursor.accept('LIKE')) {
    const pattern = parseBinary(cursor, PRECEDENCE_OF_TESTS + 1);
    if (!cursor.accept('ESCAPE')) return { kind: 'like', operand, pattern };
    return { kind: 'like', operand, pattern, escape: parseBinary(cursor, PRECEDENCE_OF_TESTS + 1) };
  }
  return undefined;
}

function parseUnary(cursor: Cursor): Expression {
  if (cursor.accept('NOT')) {
    return cursor.nested(() => ({ kind: 'unary', operator: 'NOT', operand: parseBinary(cursor, PRECEDENCE_OF_NOT) }));
  }
  const { kind, text } = cursor.peek();
  if (kind === 'symbol' && (text === '-' || text === '+' || text === '~')) {
    cursor.next();
    return cursor.nested(() => ({ kind: 'unary', operator: text, operand: parseUnary(cursor) }));
  }
  return parseMembers(cursor, parsePrimary(cursor));
}

function parseMembers(cursor: Cursor, start: Expression): Expression {
  let expression = start;
  for (;;) {
    if (cursor.accept('.')) {
      if (cursor.peek().kind !== 'name') cursor.fail();
      expression = memberOf(cursor, expression, { kind: 'literal', value: cursor.next().text });
    } else if (cursor.accept('[')) {
      const key = parseExpression(cursor);
      cursor.expect(']');
      expression = memberOf(cursor, expression, key);
    } else {
      return expression;
    }
  }
}

function memberOf(cursor: Cursor, object: Expression, key: Expression): Expression {
  const step = key.kind === 'literal' ? key.value : undefined;
  if (object.kind === 'path' && (typeof step === 'string' || typeof step === 'number')) {
    return { kind: 'path', steps: [...object.steps, step] };
  }
  cursor.countOperator();
  return { kind: 'member', object, key };
}

function parsePrimary(cursor: Cursor): Expression {
  const token = cursor.next();
  switch (token.kind) {
    case 'number':
      return { kind: 'literal', value: Number(token.text) };
    case 'string':
      return { kind: 'literal', value: unquote(token.text) };
    case 'parameter':
      return { kind: 'parameter', name: token.text };
    case 'placeholder':
      return { kind: 'literal', value: true };
    case 'name':
      return parseName(cursor, token.text, token.upper);
    default:
      return parseBracketed(cursor, token.text);
  }
}

function parseBracketed(cursor: Cursor, opening: string): Expression {
  if (opening === '[') return { kind: 'array', items: parseList(cursor, ']') };
  if (opening === '{') return { kind: 'object', entries: parseEntries(cursor) };
  if (opening !== '(') return cursor.fail(`Syntax error, incorrect syntax near '${opening}'.`);
  if (cursor.isAt('SELECT')) throw notSupported('A subquery');
  const expression = parseExpression(cursor);
  cursor.expect(')');
  return expression;
}

function refuseSubquery(cursor: Cursor, upper: string): void {
  if (upper === 'UDF') throw notSupported('A user-defined function');
  if (upper === 'EXISTS' || upper === 'ALL' || (upper === 'ARRAY' && cursor.isAt('(')))
    throw notSupported('A subquery');
}

function parseName(cursor: Cursor, name: string, upper: string): Expression {
  const literal = LITERALS[upper];
  if (literal !== undefined) return literal;
  if (name === cursor.alias) return { kind: 'path', steps: [] };
  refuseSubquery(cursor, upper);
  if (!cursor.accept('(')) return cursor.fail(`Identifier '${name}' could not be resolved.`);
  const list = parseList(cursor, ')');
  return AGGREGATES.includes(upper)
    ? aggregateCall(cursor, upper as AggregateName, list)
    : { kind: 'call', name: upper, arguments: list };
}

function aggregateCall(cursor: Cursor, name: AggregateName, list: readonly Expression[]): Expression {
  const [argument] = list;
  if (argument === undefined || list.length !== 1) return cursor.fail(`The function '${name}' requires 1 argument(s).`);
  return { kind: 'aggregate', name, argument };
}

/** Expressions up to the closing bracket, which is consumed. */
function parseList(cursor: Cursor, closing: string): readonly Expression[] {
  const items: Expression[] = [];
  if (cursor.accept(closing)) return items;
  do items.push(parseExpression(cursor));
  while (cursor.accept(','));
  cursor.expect(closing);
  return items;
}

function parseEntries(cursor: Cursor): readonly ObjectEntry[] {
  const entries: ObjectEntry[] = [];
  if (cursor.accept('}')) return entries;
  do {
    const token = cursor.next();
    if (token.kind !== 'name' && token.kind !== 'string') cursor.fail();
    cursor.expect(':');
    entries.push({ key: token.kind === 'name' ? token.text : unquote(token.text), value: parseExpression(cursor) });
  } while (cursor.accept(','));
  cursor.expect('}');
  return entries;
}
