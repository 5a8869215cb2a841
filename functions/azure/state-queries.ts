/**
 * The queries of starter and supervisor. Each filters one state by equality and one time by range, in the order of a
 * composite index (infra/topology.json), so that its cost does not grow with the records that are not due (R105).
 * Null and missing are different in Cosmos DB: an owner may be either (T8, C12).
 */
import type { SqlQuerySpec } from '@azure/cosmos';
import type { ExpiredQuery, PendingQuery, UnsentQuery } from '../state/ports.js';
import type { Timestamp } from '../contracts/timestamp.js';
import type { ProcessState } from '../state/state-record.js';

const isFree = '(IS_NULL(c.lockedBy) OR NOT IS_DEFINED(c.lockedBy))';

/** How many records are in a state. */
export function countQuery(state: ProcessState): SqlQuerySpec {
  return {
    query: 'SELECT VALUE COUNT(1) FROM c WHERE c.processState = @state',
    parameters: [{ name: '@state', value: state }],
  };
}

/** How many records in a state are owned by an attempt. */
export function countOwnedQuery(state: ProcessState): SqlQuerySpec {
  return {
    query: `SELECT VALUE COUNT(1) FROM c WHERE c.processState = @state AND NOT ${isFree}`,
    parameters: [{ name: '@state', value: state }],
  };
}

/** How many owned records have dispatched nothing yet. */
export function countNotBegunQuery(): SqlQuerySpec {
  return { query: "SELECT VALUE COUNT(1) FROM c WHERE c.notBegunSince > ''", parameters: [] };
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

/** Every document by the time of its last write, in whole seconds: `_ts` is kept and indexed by the service itself. */
export function changedQuery(since: Timestamp): SqlQuerySpec {
  return {
    query: 'SELECT * FROM c WHERE c._ts >= @since ORDER BY c._ts',
    parameters: [{ name: '@since', value: Math.floor(Date.parse(since) / 1000) }],
  };
}
