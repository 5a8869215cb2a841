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
  const parsed = stateRecordSchema.safeParse(version === 1 ? upgradeFrom1(document) : document);
  if (parsed.success && parsed.data.orderId === id) return { kind: 'record', record: parsed.data };
  if (parsed.success) return { kind: 'malformed', id, problem: 'orderId: expected the id of the document' };
  const problem = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ');
  return { kind: 'malformed', id, problem: problem.slice(0, 500) };
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

function listOf(value: unknown): readonly Document[] {
  return Array.isArray(value) ? (value as Document[]) : [];
}
