/** What every family of functions is made of. */
import type { Value } from '../values.js';

/** A function of the query language; `now` is the time of the query in milliseconds. */
export interface QueryFunction {
  readonly minimum: number;
  readonly maximum: number;
  readonly apply: (values: readonly Value[], now: number) => Value;
}

export type FunctionTable = Readonly<Record<string, QueryFunction>>;

/** A function of one value. */
export function unary(apply: (value: Value) => Value): QueryFunction {
  return { minimum: 1, maximum: 1, apply: ([value]) => apply(value) };
}

/** A function of one number; undefined for anything else and for a result that is no finite number. */
export function numeric(apply: (value: number) => number): QueryFunction {
  return unary((value) => (typeof value === 'number' ? finite(apply(value)) : undefined));
}

/** A function of one string. */
export function textual(apply: (value: string) => Value): QueryFunction {
  return unary((value) => (typeof value === 'string' ? apply(value) : undefined));
}

/** A function of two strings and an optional flag "ignore case". */
export function comparingText(apply: (text: string, part: string) => boolean): QueryFunction {
  return {
    minimum: 2,
    maximum: 3,
    apply: ([text, part, ignoreCase]) => {
      if (typeof text !== 'string' || typeof part !== 'string') return undefined;
      return ignoreCase === true ? apply(text.toLowerCase(), part.toLowerCase()) : apply(text, part);
    },
  };
}

export function finite(value: number): number | undefined {
  return Number.isFinite(value) ? value : undefined;
}
