/**
 * Reads a stored document as a state record, whatever version wrote it (R54, T41).
 *
 * Invariants
 * RR1 Every version ever written is read; test/replay/records holds a sample of each.
 * RR2 A record or workflow version newer than this build's is left alone: an older build may not understand what it must keep.
 * RR3 A record is that of the order whose id it is stored under: else it would be claimed, and remembered, as another's.
 */
import { findWorkflow } from './order-workflow.js';
import { stateRecordSchema, stateSchemaVersion } from './state-record.js';
import type { StateRecord } from './state-record.js';

/** What a stored document turned out to be. */
export type ReadRecord =
  | { readonly kind: 'record'; readonly record: StateRecord }
  | { readonly kind: 'newer'; readonly id: string; readonly problem: string }
  | { readonly kind: 'malformed'; readonly id: string; readonly problem: string };

type Document = Readonly<Record<string, unknown>>;

/** Reads the document without the store's own properties. */
export function readStateRecord(document: Document): ReadRecord {
  const id = String(document['id']);
  const version = document['schemaVersion'];
  if (typeof version === 'number' && version > stateSchemaVersion) {
    return { kind: 'newer', id, problem: `schema version ${version}, this build knows ${stateSchemaVersion}` };
  }
  const workflowVersion = document['workflowVersion'];
  if (typeof workflowVersion === 'number' && findWorkflow(workflowVersion) === undefined) {
    return { kind: 'newer', id, problem: `workflow version ${workflowVersion}, unknown to this build` };
  }
  const parsed = stateRecordSchema.safeParse(upgraded(document, version));
  if (parsed.success && parsed.data.orderId === id) return { kind: 'record', record: parsed.data };
  if (parsed.success) return { kind: 'malformed', id, problem: 'orderId: expected the id of the document' };
  const problem = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ');
  return { kind: 'malformed', id, problem: problem.slice(0, 500) };
}

function upgraded(document: Document, version: unknown): Document {
  if (version === 1) return upgradeFrom2(upgradeFrom1(document));
  return version === 2 ? upgradeFrom2(document) : document;
}

/** Version 1 knew neither since when a status waits, nor whether an earlier request of a step is unaccounted for. */
function upgradeFrom1(document: Document): Document {
  const outbox = listOf(document['outbox']);
  return {
    ...document,
    schemaVersion: 2,
    outboxSince: outbox[0]?.['at'] ?? null,
    compensation: listOf(document['compensation']).map((entry) => ({ ...entry, uncertain: true })),
  };
}

/**
 * Version 2 counted failures for the whole order, and undo failures for the whole undo. They are taken for those of what
 * is open now, so that the new build grants no more attempts than the old one had left.
 */
function upgradeFrom2(document: Document): Document {
  const steps = listOf(document['steps']);
  const open = steps.find(({ state }) => state !== 'Completed');
  const compensation = listOf(document['compensation']);
  const openUndo = compensation.findLast(({ state }) => state === 'Running' || state === 'Recorded');
  const count = (isOpen: boolean, total: unknown): unknown => (isOpen ? (total ?? 0) : 0);
  const upgraded = {
    ...document,
    schemaVersion: 3,
    steps: steps.map((step) => ({ ...step, failureCount: count(step === open, document['failureCount']) })),
    compensation: compensation.map((entry) => ({
      ...entry,
      failureCount: count(entry === openUndo, document['compensationFailureCount']),
    })),
  };
  return { ...upgraded, notBegunSince: hasBegunIn2(document) ? null : document['updatedAt'] };
}

/** True unless an attempt owns the order that has dispatched nothing yet. */
function hasBegunIn2(document: Document): boolean {
  const { lockedBy, processState } = document;
  const isUndo = processState === 'Compensating';
  if (typeof lockedBy !== 'string' || !(isUndo || processState === 'Processing')) return true;
  const requests = isUndo ? listOf(document['compensation']) : listOf(document['steps']);
  return requests.some(({ requestId }) => typeof requestId === 'string' && requestId.startsWith(`${lockedBy}.`));
}

function listOf(value: unknown): readonly Document[] {
  return Array.isArray(value) ? (value as Document[]) : [];
}
