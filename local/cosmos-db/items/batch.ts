/**
 * Transactional batches: up to 100 operations on one logical partition.
 *
 * Invariants
 * B1 Each operation sees what the ones before it did.
 * B2 All changes are stored as one journal record, or none is.
 */
import type { Json, JsonObject } from '../query/values.js';
import { isArray, isObject } from '../query/values.js';
import { FAILED_CHARGE } from '../request-charge.js';
import type { PartitionKeyValue } from '../store/partition-key.js';
import { parsePartitionKey } from '../store/partition-key.js';
import type { Change } from '../store/records.js';
import { badRequest, failedDependency, partitionKeyMismatch, WireError } from '../wire-errors.js';
import type { Conditions, ItemTarget, Outcome, View, VisibleDocument } from './operations.js';
import { createItem, deleteItem, patchItem, readItem, replaceItem, upsertItem } from './operations.js';
import { readPatch } from './patch.js';

const MAX_OPERATIONS = 100;

export interface BatchResult {
  readonly status: number;
  readonly charge: number;
  readonly body: string;
  readonly changes: readonly Change[];
}

interface BatchOperation {
  readonly type: string;
  readonly target: ItemTarget;
  readonly resource: Json | undefined;
  readonly conditions: Conditions;
}

function textOf(object: JsonObject, name: string): string | undefined {
  const value = object[name];
  return typeof value === 'string' ? value : undefined;
}

function readOperation(entry: Json, partitionKey: PartitionKeyValue): BatchOperation {
  if (!isObject(entry)) throw badRequest('An operation of the batch is no object.');
  const ownKey = textOf(entry, 'partitionKey');
  if (ownKey !== undefined && parsePartitionKey(ownKey) !== partitionKey) throw partitionKeyMismatch();
  return {
    type: textOf(entry, 'operationType') ?? '',
    target: { id: textOf(entry, 'id') ?? '', partitionKey },
    resource: entry['resourceBody'],
    conditions: { ifMatch: textOf(entry, 'ifMatch'), ifNoneMatch: textOf(entry, 'ifNoneMatch') },
  };
}

function readOperations(body: Json, partitionKey: PartitionKeyValue): readonly BatchOperation[] {
  if (!isArray(body) || body.length === 0) throw badRequest('A batch needs a list of operations.');
  if (body.length > MAX_OPERATIONS) throw badRequest(`A batch cannot have more than ${MAX_OPERATIONS} operations.`);
  return body.map((entry) => readOperation(entry, partitionKey));
}

function resourceOf({ resource, type }: BatchOperation): JsonObject {
  if (!isObject(resource)) throw badRequest(`The batch operation ${type} needs a resourceBody.`);
  return resource;
}

function perform(view: View, operation: BatchOperation): Outcome {
  const { target, conditions } = operation;
  switch (operation.type) {
    case 'Create':
      return createItem(view, resourceOf(operation), target.partitionKey);
    case 'Upsert':
      return upsertItem(view, resourceOf(operation), target.partitionKey, conditions);
    case 'Replace':
      return replaceItem(view, target, resourceOf(operation), conditions);
    case 'Patch':
      return patchItem(view, target, readPatch(resourceOf(operation)), conditions);
    case 'Read':
      return readItem(view, target, conditions);
    case 'Delete':
      return deleteItem(view, target, conditions);
    default:
      throw badRequest(`Unknown batch operation ${JSON.stringify(operation.type)}.`);
  }
}

/** The container with the changes so far on top (B1). */
function createOverlay(view: View): {
  readonly view: View;
  readonly changes: Change[];
  readonly add: (target: string, outcome: Outcome) => void;
} {
  const changed = new Map<string, VisibleDocument | undefined>();
  const changes: Change[] = [];
  return {
    changes,
    view: { ...view, find: (partitionKey, id) => (changed.has(id) ? changed.get(id) : view.find(partitionKey, id)) },
    add(id, { change, etag = '', lsn }) {
      if (change === undefined) return;
      changes.push(change);
      const version =
        change.kind === 'remove'
          ? undefined
          : { body: change.body, size: Buffer.byteLength(change.body), etag, lsn, sequence: change.sequence };
      changed.set(id, version);
    },
  };
}

function idOf({ target, resource }: BatchOperation): string {
  return target.id !== '' ? target.id : isObject(resource) ? (textOf(resource, 'id') ?? '') : '';
}

function describe({ status, charge, etag, body }: Outcome, minimal: boolean): string {
  const tag = etag === undefined ? '' : `,"eTag":${JSON.stringify(etag)}`;
  const resource = body === undefined || minimal ? '' : `,"resourceBody":${body}`;
  return `{"statusCode":${status},"requestCharge":${charge}${tag}${resource}}`;
}

function describeFailure(count: number, failedAt: number, error: WireError): string {
  const others = failedDependency();
  const results = Array.from({ length: count }, (_, index) => {
    const { status, message, details } = index === failedAt ? error : others;
    return { statusCode: status, subStatusCode: details.subStatus ?? 0, requestCharge: 0, message };
  });
  return JSON.stringify(results);
}

/** Decides a batch without changing anything. `minimal` leaves the written documents out of the answer. */
export function decideBatch(view: View, body: Json, partitionKey: PartitionKeyValue, minimal: boolean): BatchResult {
  const operations = readOperations(body, partitionKey);
  const overlay = createOverlay(view);
  const results: string[] = [];
  let charge = 0;
  for (const [index, operation] of operations.entries()) {
    try {
      const outcome = perform(overlay.view, operation);
      overlay.add(idOf(operation), outcome);
      results.push(describe(outcome, minimal && operation.type !== 'Read'));
      charge += outcome.charge;
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      const failure = describeFailure(operations.length, index, error);
      return { status: 207, charge: charge + FAILED_CHARGE, body: failure, changes: [] };
    }
  }
  return {
    status: 200,
    charge: Math.round(charge * 100) / 100,
    body: `[${results.join(',')}]`,
    changes: overlay.changes,
  };
}
