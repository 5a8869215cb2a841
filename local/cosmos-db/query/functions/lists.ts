/** Array and object functions. */
import type { Json, Value } from '../values.js';
import { equalValues, isArray, isObject } from '../values.js';
import type { FunctionTable } from './registry.js';

function matchesPartly(element: Value, wanted: Value): boolean {
  if (!isObject(element) || !isObject(wanted)) return equalValues(element, wanted);
  return Object.entries(wanted).every(([key, value]) => equalValues(element[key], value));
}

function arrayContains([list, wanted, partly]: readonly Value[]): Value {
  if (!isArray(list) || wanted === undefined) return undefined;
  return list.some((element) => (partly === true ? matchesPartly(element, wanted) : equalValues(element, wanted)));
}

function arrayContainsEach(all: boolean): FunctionTable[string]['apply'] {
  return ([list, ...wanted]) => {
    if (!isArray(list)) return undefined;
    const isThere = (value: Value): boolean => list.some((element) => equalValues(element, value));
    return all ? wanted.every(isThere) : wanted.some(isThere);
  };
}

function arrayConcat(values: readonly Value[]): Value {
  return values.every(isArray) ? values.flat(1) : undefined;
}

function arraySlice([list, start, count]: readonly Value[]): Value {
  if (!isArray(list) || typeof start !== 'number') return undefined;
  const from = start < 0 ? Math.max(0, list.length + start) : start;
  if (count !== undefined && typeof count !== 'number') return undefined;
  return list.slice(from, count === undefined ? undefined : from + Math.max(0, count));
}

function distinct(list: readonly Json[]): readonly Json[] {
  return list.filter((element, index) => list.findIndex((other) => equalValues(other, element)) === index);
}

function setOf(
  combine: (left: readonly Json[], right: readonly Json[]) => readonly Json[],
): FunctionTable[string]['apply'] {
  return ([left, right]) => (isArray(left) && isArray(right) ? distinct(combine(left, right)) : undefined);
}

function objectToArray([value]: readonly Value[]): Value {
  return isObject(value) ? Object.entries(value).map(([k, v]) => ({ k, v })) : undefined;
}

function choose([index, ...values]: readonly Value[]): Value {
  return typeof index === 'number' ? values[index - 1] : undefined;
}

export const LIST_FUNCTIONS: FunctionTable = {
  ARRAY_CONTAINS: { minimum: 2, maximum: 3, apply: arrayContains },
  ARRAY_CONTAINS_ALL: { minimum: 2, maximum: Infinity, apply: arrayContainsEach(true) },
  ARRAY_CONTAINS_ANY: { minimum: 2, maximum: Infinity, apply: arrayContainsEach(false) },
  ARRAY_CONCAT: { minimum: 2, maximum: Infinity, apply: arrayConcat },
  ARRAY_LENGTH: { minimum: 1, maximum: 1, apply: ([list]) => (isArray(list) ? list.length : undefined) },
  ARRAY_SLICE: { minimum: 2, maximum: 3, apply: arraySlice },
  SETINTERSECT: {
    minimum: 2,
    maximum: 2,
    apply: setOf((left, right) => left.filter((element) => right.some((other) => equalValues(other, element)))),
  },
  SETUNION: { minimum: 2, maximum: 2, apply: setOf((left, right) => [...left, ...right]) },
  OBJECTTOARRAY: { minimum: 1, maximum: 1, apply: objectToArray },
  CHOOSE: { minimum: 2, maximum: Infinity, apply: choose },
  IIF: { minimum: 3, maximum: 3, apply: ([test, then, otherwise]) => (test === true ? then : otherwise) },
};
