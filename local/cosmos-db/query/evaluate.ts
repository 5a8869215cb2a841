/**
 * Turns expressions into functions over a document.
 *
 * Invariants
 * E1 Three-valued logic: an operand that is no boolean makes AND/OR undefined, unless the other one decides alone.
 * E2 `=` and `!=` compare values of any type; `<` and its kin are undefined across types and for arrays and objects.
 * E3 An expression without a path, parameters included, is evaluated once.
 */
import { badQuery } from '../wire-errors.js';
import type { Expression, ObjectEntry } from './ast.js';
import { isConstant } from './expression-tree.js';
import { callFunction } from './functions/index.js';
import { likePattern } from './functions/like.js';
import { compileArray, compileBetween, compileBinary, compileIn, compileMember, compileUnary } from './operators.js';
import type { Evaluator, Scope } from './scope.js';
import type { Json, JsonObject } from './values.js';
import { readMember, readPath } from './values.js';

const NO_DOCUMENT: JsonObject = {};

/** Compiles an expression; its constant parts are computed now (E3). */
export function compile(expression: Expression, scope: Scope): Evaluator {
  const evaluator = compileNode(expression, scope);
  if (expression.kind === 'literal' || !isConstant(expression)) return evaluator;
  const value = evaluator(NO_DOCUMENT);
  return () => value;
}

/** Compiles a WHERE clause: a document passes when it is exactly true. */
export function compileFilter(expression: Expression | undefined, scope: Scope): (document: JsonObject) => boolean {
  if (expression === undefined) return () => true;
  const evaluator = compile(expression, scope);
  return (document) => evaluator(document) === true;
}

function compileNode(expression: Expression, scope: Scope): Evaluator {
  switch (expression.kind) {
    case 'literal': {
      const { value } = expression;
      return () => value;
    }
    case 'undefined':
      return () => undefined;
    case 'parameter':
      return compileParameter(expression.name, scope);
    case 'path':
      return compilePath(expression.steps);
    case 'unary':
      return compileUnary(expression.operator, compile(expression.operand, scope));
    case 'binary':
      return compileBinary(expression.operator, compile(expression.left, scope), compile(expression.right, scope));
    case 'aggregate':
      throw badQuery('An aggregate function is not allowed here.');
    default:
      return compileCompound(expression, scope);
  }
}

type Compound = Exclude<
  Expression,
  { kind: 'literal' | 'undefined' | 'parameter' | 'path' | 'unary' | 'binary' | 'aggregate' }
>;

function compileCompound(expression: Compound, scope: Scope): Evaluator {
  switch (expression.kind) {
    case 'in':
      return compileIn(compile(expression.operand, scope), compileAll(expression.choices, scope));
    case 'between':
      return compileBetween(
        compile(expression.operand, scope),
        compile(expression.low, scope),
        compile(expression.high, scope),
      );
    case 'like':
      return compileLike(expression, scope);
    case 'conditional':
      return compileConditional(expression, scope);
    case 'member':
      return compileMember(compile(expression.object, scope), compile(expression.key, scope));
    case 'call':
      return callFunction(expression.name, compileAll(expression.arguments, scope), scope.now);
    case 'array':
      return compileArray(compileAll(expression.items, scope));
    case 'object':
      return compileObject(expression.entries, scope);
  }
}

function compileAll(expressions: readonly Expression[], scope: Scope): readonly Evaluator[] {
  return expressions.map((expression) => compile(expression, scope));
}

function compileParameter(name: string, scope: Scope): Evaluator {
  if (!Object.hasOwn(scope.parameters, name))
    throw badQuery(`The parameter ${name} is used in the query and not given.`);
  const value = scope.parameters[name];
  return () => value;
}

function compilePath(steps: readonly (string | number)[]): Evaluator {
  const [only] = steps;
  if (steps.length === 1 && only !== undefined) return (document) => readMember(document, only);
  return (document) => readPath(document, steps);
}

function compileLike(expression: Extract<Expression, { kind: 'like' }>, scope: Scope): Evaluator {
  const operand = compile(expression.operand, scope);
  const pattern = compile(expression.pattern, scope);
  const escape = expression.escape === undefined ? () => undefined : compile(expression.escape, scope);
  return (document) => {
    const text = operand(document);
    const like = pattern(document);
    const escapeCharacter = escape(document);
    if (typeof text !== 'string' || typeof like !== 'string') return undefined;
    return likePattern(like, typeof escapeCharacter === 'string' ? escapeCharacter : undefined)(text);
  };
}

function compileConditional(expression: Extract<Expression, { kind: 'conditional' }>, scope: Scope): Evaluator {
  const test = compile(expression.test, scope);
  const then = compile(expression.then, scope);
  const otherwise = compile(expression.otherwise, scope);
  return (document) => (test(document) === true ? then(document) : otherwise(document));
}

function compileObject(entries: readonly ObjectEntry[], scope: Scope): Evaluator {
  const compiled = entries.map((entry) => [entry.key, compile(entry.value, scope)] as const);
  return (document) => buildObject(compiled, document);
}

/** An object of the defined values only, as JSON has it. */
export function buildObject(entries: readonly (readonly [string, Evaluator])[], document: JsonObject): JsonObject {
  const object: Record<string, Json> = {};
  for (const [key, evaluator] of entries) {
    const value = evaluator(document);
    if (value !== undefined) object[key] = value;
  }
  return object;
}
