/**
 * The queries of starter and supervisor. Each filters one state by equality and one time by range, in the order of a
 * composite index (infra/topology.json), so that its cost does not grow with the records that are not due (R105).
 * Null and missing are different in Cosmos DB: an owner may be either (T8, C12).
 */
import type { SqlQuerySpec } from '@azure/cosmos';
import type { ExpiredQuery, PendingQuery, UnsentQuery } from '../state/ports.js';
import type { Timestamp } from '../contracts/timestamp.js';
import { processStateSchema, stateSchemaVersion } from '../state/state-record.js';
import type { ProcessState } from '../state/state-record.js';

const isFree = '(IS_NULL(c.lockedBy) OR NOT IS_DEFINED(c.lockedBy))';

/** How many records are in a state. */
export function countQuery(state: ProcessState): SqlQuerySpec {
  return {
    query: 'SELECT VALUE COUNT(1) FROM c WHERE c.processState = @state',
    parameters: [{ name: '@state', value: state }],
  };
}

/** Waiting records that may start, the longest due first. */
export function pendingQuery({ state, priority, notBefore }: PendingQuery): SqlQuerySpec {
  const hasPriority = priority !== undefined;
  return {
    query:
      `SELECT * FROM c WHERE c.processState = @state ${hasPriority ? 'AND c.priority = @priority ' : ''}` +
      `AND ${isFree} AND c.notBefore <= @notBefore ` +
      `ORDER BY c.processState, ${hasPriority ? 'c.priority, ' : ''}c.notBefore`,
    parameters: [
      { name: '@state', value: state },
      { name: '@notBefore', value: notBefore },
      ...(hasPriority ? [{ name: '@priority', value: priority }] : []),
    ],
  };
}

/** Owned records whose time is up, the oldest first. */
export function expiredQuery({ state, completeBefore, completeFrom }: ExpiredQuery): SqlQuerySpec {
  const lowerBound = completeFrom === undefined ? '' : 'AND c.completeBy >= @completeFrom ';
  return {
    query:
      `SELECT * FROM c WHERE c.processState = @state AND NOT ${isFree} AND c.completeBy < @completeBefore ${lowerBound}` +
      'ORDER BY c.processState, c.completeBy',
    parameters: [
      { name: '@state', value: state },
      { name: '@completeBefore', value: completeBefore },
      ...(completeFrom === undefined ? [] : [{ name: '@completeFrom', value: completeFrom }]),
    ],
  };
}

/** Owned records that have no deadline at all: `null < now` is undefined, so no range finds them (T1). */
export function withoutDeadlineQuery(state: ProcessState, unchangedSince: Timestamp): SqlQuerySpec {
  return {
    query:
      `SELECT * FROM c WHERE c.processState = @state AND NOT ${isFree} ` +
      'AND (IS_NULL(c.completeBy) OR NOT IS_DEFINED(c.completeBy)) AND c.updatedAt < @unchangedSince',
    parameters: [
      { name: '@state', value: state },
      { name: '@unchangedSince', value: unchangedSince },
    ],
  };
}

/** Finished records with a status that still waits to be sent, the longest waiting first. */
export function unsentQuery(states: readonly ProcessState[], { since, from }: UnsentQuery): SqlQuerySpec {
  const lowerBound = from === undefined ? '' : 'AND c.outboxSince >= @from ';
  return {
    query:
      `SELECT * FROM c WHERE ARRAY_CONTAINS(@states, c.processState) AND c.outboxSince < @since ${lowerBound}` +
      'ORDER BY c.outboxSince',
    parameters: [
      { name: '@states', value: [...states] },
      { name: '@since', value: since },
      ...(from === undefined ? [] : [{ name: '@from', value: from }]),
    ],
  };
}

/**
 * Documents that no other query can find or that it would compare wrongly (C11, C42): an unknown state, a time that is
 * missing where it must be, or in another form than ours. Reads every record, so it runs seldom.
 */
export function suspiciousQuery(): SqlQuerySpec {
  const isForeignTime = (path: string): string =>
    `(NOT IS_NULL(${path}) AND (NOT IS_STRING(${path}) OR LENGTH(${path}) != 24 OR NOT ENDSWITH(${path}, 'Z')))`;
  return {
    query:
      'SELECT * FROM c WHERE NOT IS_DEFINED(c.processState) OR NOT ARRAY_CONTAINS(@states, c.processState) ' +
      `OR NOT IS_DEFINED(c.notBefore) OR IS_NULL(c.notBefore) OR ${isForeignTime('c.notBefore')} ` +
      `OR ${isForeignTime('c.completeBy')} ` +
      "OR NOT IS_DEFINED(c.priority) OR NOT ARRAY_CONTAINS(['normal', 'high'], c.priority) OR c.lockedBy = '' OR c.schemaVersion > @schemaVersion",
    parameters: [
      { name: '@states', value: [...processStateSchema.options] },
      { name: '@schemaVersion', value: stateSchemaVersion },
    ],
  };
}
