/** Finds and calls the functions of the query language. */
import { badQuery } from '../../wire-errors.js';
import type { Evaluator } from '../scope.js';
import { LIST_FUNCTIONS } from './lists.js';
import { MATH_FUNCTIONS } from './math.js';
import type { FunctionTable } from './registry.js';
import { TEXT_FUNCTIONS } from './text.js';
import { TIME_FUNCTIONS } from './time.js';
import { TYPE_CHECKS } from './type-checks.js';

const FUNCTIONS: FunctionTable = {
  ...TYPE_CHECKS,
  ...TEXT_FUNCTIONS,
  ...MATH_FUNCTIONS,
  ...LIST_FUNCTIONS,
  ...TIME_FUNCTIONS,
};

/** The call of a function by its name in upper case; refused when unknown or with a wrong number of arguments. */
export function callFunction(name: string, values: readonly Evaluator[], now: number): Evaluator {
  const found = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
  if (found === undefined) throw badQuery(`'${name}' is not a recognized built-in function name.`);
  if (values.length < found.minimum || values.length > found.maximum) {
    throw badQuery(`The ${name} function requires ${found.minimum} argument(s) and has ${values.length}.`);
  }
  const { apply } = found;
  const [only] = values;
  if (values.length === 1 && only !== undefined) return (document) => apply([only(document)], now);
  return (document) =>
    apply(
      values.map((value) => value(document)),
      now,
    );
}
