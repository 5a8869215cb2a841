/**
 * What a document must be like. The service refuses `/` and `\` in ids and documents trouble with `?` and `#`; all four
 * are refused here.
 */
import type { Json, JsonObject } from '../query/values.js';
import type { Container } from '../store/container.js';
import type { PartitionKeyValue } from '../store/partition-key.js';
import { partitionKeyOf } from '../store/partition-key.js';
import { checkTtl } from '../store/time-to-live.js';
import { badRequest, partitionKeyMismatch, tooLarge } from '../wire-errors.js';

export const MAX_DOCUMENT_BYTES = 2 * 1024 * 1024;
const MAX_ID_BYTES = 1023;
const MAX_KEY_BYTES = 2048;
const MAX_DEPTH = 128;

function checkDepth(value: Json, depth: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth > MAX_DEPTH) throw badRequest(`The document is nested more than ${MAX_DEPTH} levels deep.`);
  for (const part of Object.values(value)) checkDepth(part, depth + 1);
}

/** Checks an item's id. */
export function checkId(id: Json | undefined): string {
  if (typeof id !== 'string' || id === '')
    throw badRequest("The input content is invalid because the required properties - 'id; ' - are missing or no text.");
  if (Buffer.byteLength(id) > MAX_ID_BYTES) throw badRequest(`The id is longer than ${MAX_ID_BYTES} bytes.`);
  if (/[/\\?#]/.test(id) || id.endsWith(' '))
    throw badRequest(`The id holds one of / \\ ? # or ends with a space: ${JSON.stringify(id)}`);
  return id;
}

/** Checks a document as a client sends it and returns its id and partition key. */
export function checkDocument(
  container: Container,
  document: JsonObject,
  headerKey: PartitionKeyValue,
): { readonly id: string; readonly partitionKey: PartitionKeyValue } {
  const id = checkId(document['id']);
  checkDepth(document, 1);
  checkTtl(document['ttl']);
  const partitionKey = partitionKeyOf(document, container.definition.partitionKeyPath);
  if (partitionKey !== headerKey) throw partitionKeyMismatch();
  if (
    typeof partitionKey === 'string' &&
    partitionKey.length > MAX_KEY_BYTES / 4 &&
    Buffer.byteLength(partitionKey) > MAX_KEY_BYTES
  ) {
    throw badRequest(`The partition key is longer than ${MAX_KEY_BYTES} bytes.`);
  }
  return { id, partitionKey };
}

/** Refuses a document that outgrows the limit. */
export function checkSize(body: string): void {
  if (body.length > MAX_DOCUMENT_BYTES / 4 && Buffer.byteLength(body) > MAX_DOCUMENT_BYTES) throw tooLarge();
}
