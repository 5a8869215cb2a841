/**
 * Continuation tokens: the place of the last result, never a count of results. So they survive concurrent writes and a
 * restart.
 */
import { createHash } from 'node:crypto';
import type { OrderPosition } from '../store/index-set.js';
import { badRequest } from '../wire-errors.js';
import type { Query } from './ast.js';
import type { Json, Value } from './values.js';
import { isArray, isObject } from './values.js';

/** A token travels in a header, of which clients take 16 KB in all. */
const MAX_TOKEN_LENGTH = 8 * 1024;

/** Where a query goes on. */
export interface Continuation {
  readonly partition: string;
  /** Absent: from the partition's start. */
  readonly after?: OrderPosition;
  /** Results still to skip, and still to yield, of OFFSET, LIMIT and TOP. */
  readonly toSkip: number;
  readonly toYield?: number;
}

/**
 * Tells queries apart whose tokens must not be mixed up. An ordered query is known by its order alone, because the client
 * changes its filter from page to page.
 */
export function queryFingerprint(
  query: Query,
  parts: { readonly text: string; readonly parameters: Json; readonly place: string },
): string {
  const isOrdered = query.orderBy.length > 0;
  const order = query.orderBy.map(({ text, descending }) => [text, descending]);
  const identity = isOrdered ? [order, parts.place] : [parts.text, parts.parameters, parts.place];
  return createHash('sha1').update(JSON.stringify(identity)).digest('base64url').slice(0, 12);
}

/** Undefined is written as an empty list, any other value as a list of one. */
function encodeValue(value: Value): Json {
  return value === undefined ? [] : [value];
}

export function encodeContinuation(fingerprint: string, { partition, after, toSkip, toYield }: Continuation): string {
  const place = after === undefined ? null : [after.sequence, ...after.values.map(encodeValue)];
  const token = Buffer.from(JSON.stringify([fingerprint, partition, toSkip, toYield ?? null, place])).toString(
    'base64url',
  );
  if (token.length > MAX_TOKEN_LENGTH)
    throw badRequest('The values the query is ordered by are too long to go on from.');
  return token;
}

function decodePlace(place: Json | undefined): OrderPosition | undefined {
  if (!isArray(place)) return undefined;
  const [sequence, ...values] = place;
  if (typeof sequence !== 'number') throw invalid();
  return { sequence, values: values.map((value) => (isArray(value) ? value[0] : undefined)) };
}

function invalid(): Error {
  return badRequest('Invalid Continuation Token: it does not belong to this query.');
}

function parse(token: string): Json {
  try {
    return JSON.parse(Buffer.from(token, 'base64url').toString('utf8')) as Json;
  } catch {
    throw invalid();
  }
}

/** Reads a token back; 400 for one of another query or none of ours. */
export function decodeContinuation(fingerprint: string, token: string): Continuation {
  const parsed = parse(token);
  if (!isArray(parsed) || isObject(parsed) || parsed[0] !== fingerprint) throw invalid();
  const [, partition, toSkip, toYield, place] = parsed;
  if (typeof partition !== 'string' || typeof toSkip !== 'number') throw invalid();
  const after = decodePlace(place);
  return {
    partition,
    toSkip,
    ...(typeof toYield === 'number' ? { toYield } : {}),
    ...(after === undefined ? {} : { after }),
  };
}
