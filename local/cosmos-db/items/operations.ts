/**
 * The operations on one item, decided without changing anything: the outcome holds the change to make.
 *
 * Invariants
 * O1 A condition is checked against the very version that the change replaces.
 * O2 An operation that fails holds no change.
 */
import { compileFilter } from '../query/evaluate.js';
import { parseQuery } from '../query/parser.js';
import type { JsonObject } from '../query/values.js';
import { readCharge, replaceCharge, writeCharge } from '../request-charge.js';
import type { Container } from '../store/container.js';
import type { StoredDocument } from '../store/document.js';
import { bodyWithSystemProperties, documentRid } from '../store/document.js';
import type { PartitionKeyValue } from '../store/partition-key.js';
import type { Change } from '../store/records.js';
import { badRequest, conflict, notFound, preconditionFailed } from '../wire-errors.js';
import type { Patch } from './patch.js';
import { applyPatch } from './patch.js';
import { checkDocument, checkSize } from './rules.js';

/** Conditions on the present version. */
export interface Conditions {
  readonly ifMatch?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
}

/** What an operation does and answers. */
export interface Outcome {
  readonly status: number;
  readonly charge: number;
  readonly etag?: string;
  readonly body?: string;
  readonly lsn: number;
  readonly change?: Change;
}

/** The container as one operation sees it. A batch shows each operation what the ones before it would do. */
export interface View {
  readonly container: Container;
  readonly now: number;
  find(partitionKey: PartitionKeyValue, id: string): VisibleDocument | undefined;
  newEtag(lsn: number): string;
}

export type VisibleDocument = Pick<StoredDocument, 'body' | 'size' | 'etag' | 'sequence' | 'lsn'>;

/** The item, unless it is absent or expired. */
export function findItem(document: StoredDocument | undefined, now: number): StoredDocument | undefined {
  return document === undefined || document.expiresAt <= now ? undefined : document;
}

function requireItem(view: View, partitionKey: PartitionKeyValue, id: string): VisibleDocument {
  const found = view.find(partitionKey, id);
  if (found === undefined) throw notFound(`item ${id}`);
  return found;
}

function checkIfMatch(present: VisibleDocument, { ifMatch }: Conditions): void {
  if (ifMatch !== undefined && ifMatch !== '*' && ifMatch !== present.etag) throw preconditionFailed();
}

/** The new version's body and the change that stores it. */
function store(
  view: View,
  document: JsonObject,
  id: string,
  sequence: number,
): Required<Pick<Outcome, 'body' | 'etag' | 'change' | 'lsn'>> & { readonly bytes: number } {
  const { container } = view;
  const lsn = container.counters.takeLsn();
  const etag = view.newEtag(lsn);
  const rid = documentRid(container.rid, sequence);
  const { database, name } = container.definition;
  const self = `dbs/${encodeURIComponent(database)}/colls/${encodeURIComponent(name)}/docs/${encodeURIComponent(id)}/`;
  const body = bodyWithSystemProperties(document, { rid, self, etag, timestamp: Math.floor(view.now / 1000) });
  checkSize(body);
  return { body, etag, lsn, bytes: body.length, change: { kind: 'put', sequence, lsn, body } };
}

/** Creates an item; 409 when it exists. */
export function createItem(view: View, document: JsonObject, headerKey: PartitionKeyValue): Outcome {
  const { id, partitionKey } = checkDocument(view.container, document, headerKey);
  if (view.find(partitionKey, id) !== undefined) throw conflict(`item ${id}`);
  const { bytes, ...stored } = store(view, document, id, view.container.counters.takeSequence());
  return { ...stored, status: 201, charge: writeCharge(bytes) };
}

/** Creates the item or replaces it. */
export function upsertItem(
  view: View,
  document: JsonObject,
  headerKey: PartitionKeyValue,
  conditions: Conditions,
): Outcome {
  const { id, partitionKey } = checkDocument(view.container, document, headerKey);
  const present = view.find(partitionKey, id);
  if (present === undefined) return createItem(view, document, headerKey);
  checkIfMatch(present, conditions);
  return replaceWith(view, document, id, present);
}

function replaceWith(view: View, document: JsonObject, id: string, present: VisibleDocument): Outcome {
  const { bytes, ...stored } = store(view, document, id, present.sequence);
  return { ...stored, status: 200, charge: replaceCharge(bytes) };
}

/** Replaces an item; 404 when it is absent, 412 when its version is another. */
export function replaceItem(view: View, target: ItemTarget, document: JsonObject, conditions: Conditions): Outcome {
  const { id, partitionKey } = checkDocument(view.container, document, target.partitionKey);
  if (id !== target.id)
    throw badRequest('The id of the document differs from the id in the path; an id cannot be changed.');
  const present = requireItem(view, partitionKey, id);
  checkIfMatch(present, conditions);
  return replaceWith(view, document, id, present);
}

/** Which item is meant. */
export interface ItemTarget {
  readonly id: string;
  readonly partitionKey: PartitionKeyValue;
}

/** Reads an item; 304 when the client has this version already. */
export function readItem(view: View, target: ItemTarget, { ifNoneMatch }: Conditions): Outcome {
  const { etag, body, lsn, size } = requireItem(view, target.partitionKey, target.id);
  const charge = readCharge(size);
  return ifNoneMatch === etag || ifNoneMatch === '*'
    ? { status: 304, charge, etag, lsn }
    : { status: 200, charge, etag, body, lsn };
}

/** Removes an item. */
export function deleteItem(view: View, target: ItemTarget, conditions: Conditions): Outcome {
  const present = requireItem(view, target.partitionKey, target.id);
  checkIfMatch(present, conditions);
  const lsn = view.container.counters.takeLsn();
  return { status: 204, charge: writeCharge(present.size), lsn, change: { kind: 'remove', ...target, lsn } };
}

/** Changes parts of an item; 412 when the patch's condition does not hold. */
export function patchItem(view: View, target: ItemTarget, patch: Patch, conditions: Conditions): Outcome {
  const present = requireItem(view, target.partitionKey, target.id);
  checkIfMatch(present, conditions);
  const document = JSON.parse(present.body) as JsonObject;
  if (!holds(patch.condition, document, view.now)) throw preconditionFailed();
  const patched = applyPatch(document, patch, view.container.definition);
  checkDocument(view.container, patched, target.partitionKey);
  return replaceWith(view, patched, target.id, present);
}

function holds(condition: string | undefined, document: JsonObject, now: number): boolean {
  if (condition === undefined) return true;
  const { where } = parseQuery(`SELECT * ${condition}`);
  return compileFilter(where?.expression, { parameters: {}, now })(document);
}
