/**
 * Where an ordered query goes on, as clients say it beside the query's text: behind order values, and behind one of the
 * documents that have them.
 */
import type { IndexOrder, OrderPosition } from '../store/index-set.js';
import { sequenceOfRid } from '../store/document.js';
import { badRequest, notSupported } from '../wire-errors.js';
import type { Json, Value } from './values.js';
import { isArray, isObject, isScalar } from './values.js';

export interface ResumeFilter {
  readonly values: readonly Value[];
  /** Absent: all documents with these values are meant. */
  readonly sequence?: number;
  /** True: go on behind what is named; false: with it. */
  readonly excludes: boolean;
}

/** Undefined is written as an empty list. */
function readValue(value: Json): Value {
  if (isArray(value) && value.length === 0) return undefined;
  if (!isScalar(value)) throw notSupported('Going on behind an array or an object in an ordered query');
  return value;
}

/** Reads the property `resumeFilter` of a query's body. */
export function readResumeFilter(filter: Json | undefined): ResumeFilter | undefined {
  if (filter === undefined || filter === null) return undefined;
  const values = isObject(filter) ? filter['value'] : undefined;
  if (!isObject(filter) || !isArray(values)) throw badRequest('The resumeFilter of the query has no list of values.');
  const rid = filter['rid'];
  return {
    values: values.map(readValue),
    excludes: filter['exclude'] === true,
    ...(typeof rid === 'string' ? { sequence: sequenceOfRid(rid) } : {}),
  };
}

/** The position behind which the query goes on. */
export function resumePosition({ values, sequence, excludes }: ResumeFilter, order: IndexOrder): OrderPosition {
  if (values.length !== order.slots.length) {
    throw badRequest('The resumeFilter of the query has another number of values than its ORDER BY.');
  }
  const forward = order.tieDescending ? -1 : 1;
  if (sequence === undefined) return { values, sequence: (excludes ? forward : -forward) * Infinity };
  return { values, sequence: excludes ? sequence : sequence - forward };
}
