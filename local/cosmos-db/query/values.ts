/**
 * The values of the query language: JSON and *undefined*, with the service's order and equality.
 *
 * Invariants
 * V1 `compareValues` is a total order: undefined < null < boolean < number < string < array < object.
 * V2 `equalValues(a, b)` is true exactly when `compareValues(a, b)` is 0; undefined is told apart by the caller.
 */

/** A JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: Json;
}

/** What an expression yields. */
export type Value = Json | undefined;

export function isArray(value: Value): value is readonly Json[] {
  return Array.isArray(value);
}

export function isObject(value: Value): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** True for a value that an index can seek: anything but an array or object. */
export function isScalar(value: Value): boolean {
  return typeof value !== 'object' || value === null;
}

function typeOrder(value: Value): number {
  switch (typeof value) {
    case 'undefined':
      return 0;
    case 'boolean':
      return 2;
    case 'number':
      return 3;
    case 'string':
      return 4;
    default:
      if (value === null) return 1;
      return Array.isArray(value) ? 5 : 6;
  }
}

function compareArrays(left: readonly Json[], right: readonly Json[]): number {
  const shared = Math.min(left.length, right.length);
  for (let index = 0; index < shared; index += 1) {
    const order = compareValues(left[index], right[index]);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

function compareObjects(left: JsonObject, right: JsonObject): number {
  const leftKeys = Object.keys(left).sort();
  const rightKeys = Object.keys(right).sort();
  const keyOrder = compareArrays(leftKeys, rightKeys);
  if (keyOrder !== 0) return keyOrder;
  for (const key of leftKeys) {
    const order = compareValues(left[key], right[key]);
    if (order !== 0) return order;
  }
  return 0;
}

function compareOfOneType(left: Value, right: Value): number {
  if (isArray(left) && isArray(right)) return compareArrays(left, right);
  if (isObject(left) && isObject(right)) return compareObjects(left, right);
  return left === true ? 1 : -1;
}

/** V1. */
export function compareValues(left: Value, right: Value): number {
  if (left === right) return 0;
  if (typeof left === 'string' && typeof right === 'string') return left < right ? -1 : 1;
  if (typeof left === 'number' && typeof right === 'number') return left < right ? -1 : 1;
  const difference = typeOrder(left) - typeOrder(right);
  return difference === 0 ? compareOfOneType(left, right) : difference;
}

/** V2. */
export function equalValues(left: Value, right: Value): boolean {
  return left === right || (typeof left === typeof right && compareValues(left, right) === 0);
}

/** True when `<` and its kin have a result: both of one scalar type. */
export function isComparable(left: Value, right: Value): boolean {
  return left !== undefined && isScalar(left) && typeOrder(left) === typeOrder(right);
}

/** Reads a property of an object or an element of an array; undefined when there is none. */
export function readMember(value: Value, key: string | number): Value {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) return typeof key === 'number' ? (value as readonly Json[])[key] : undefined;
  return typeof key === 'string' && Object.hasOwn(value, key) ? (value as JsonObject)[key] : undefined;
}

/** Reads along a path from the document's root. */
export function readPath(value: Value, path: readonly (string | number)[]): Value {
  let current = value;
  for (const key of path) current = readMember(current, key);
  return current;
}
