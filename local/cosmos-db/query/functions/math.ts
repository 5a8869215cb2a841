/** Mathematical functions. */
import type { Value } from '../values.js';
import type { FunctionTable } from './registry.js';
import { finite, numeric } from './registry.js';

function ofTwoNumbers(apply: (left: number, right: number) => number): FunctionTable[string] {
  return {
    minimum: 2,
    maximum: 2,
    apply: ([left, right]) =>
      typeof left === 'number' && typeof right === 'number' ? finite(apply(left, right)) : undefined,
  };
}

function logarithm([value, base]: readonly Value[]): Value {
  if (typeof value !== 'number') return undefined;
  if (base === undefined) return finite(Math.log(value));
  return typeof base === 'number' ? finite(Math.log(value) / Math.log(base)) : undefined;
}

/** Rounds halves away from zero. */
function roundHalfAway(value: number): number {
  return Math.sign(value) * Math.round(Math.abs(value));
}

function bin([value, size]: readonly Value[]): Value {
  const width = size ?? 1;
  if (typeof value !== 'number' || typeof width !== 'number' || width === 0) return undefined;
  return finite(Math.floor(value / width) * width);
}

export const MATH_FUNCTIONS: FunctionTable = {
  ABS: numeric(Math.abs),
  ACOS: numeric(Math.acos),
  ASIN: numeric(Math.asin),
  ATAN: numeric(Math.atan),
  ATN2: ofTwoNumbers(Math.atan2),
  CEILING: numeric(Math.ceil),
  COS: numeric(Math.cos),
  COT: numeric((value) => 1 / Math.tan(value)),
  DEGREES: numeric((value) => (value * 180) / Math.PI),
  EXP: numeric(Math.exp),
  FLOOR: numeric(Math.floor),
  INTADD: ofTwoNumbers((left, right) => left + right),
  INTSUB: ofTwoNumbers((left, right) => left - right),
  INTMUL: ofTwoNumbers((left, right) => left * right),
  INTDIV: ofTwoNumbers((left, right) => Math.trunc(left / right)),
  INTMOD: ofTwoNumbers((left, right) => left % right),
  LOG: { minimum: 1, maximum: 2, apply: logarithm },
  LOG10: numeric(Math.log10),
  NUMBERBIN: { minimum: 1, maximum: 2, apply: bin },
  PI: { minimum: 0, maximum: 0, apply: () => Math.PI },
  POWER: ofTwoNumbers(Math.pow),
  RADIANS: numeric((value) => (value * Math.PI) / 180),
  RAND: { minimum: 0, maximum: 0, apply: () => Math.random() },
  ROUND: numeric(roundHalfAway),
  SIGN: numeric(Math.sign),
  SIN: numeric(Math.sin),
  SQRT: numeric(Math.sqrt),
  SQUARE: numeric((value) => value * value),
  TAN: numeric(Math.tan),
  TRUNC: numeric(Math.trunc),
};
