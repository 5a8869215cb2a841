/**
 * Partition keys: how they are read, written down and hashed to a place among the physical partitions.
 *
 * Invariant
 * P1 `effectivePartitionKey` equals the client's own version 2 hash: clients group bulk operations by it.
 */
import type { Json, JsonObject, Value } from '../query/values.js';
import { readPath } from '../query/values.js';
import { badRequest, partitionKeyIncomplete } from '../wire-errors.js';
import { murmurHash128 } from './murmur-hash.js';

/** A partition key value; undefined when the document lacks the property. */
export type PartitionKeyValue = string | number | boolean | null | undefined;

/** The value a document has for a partition key path. */
export function partitionKeyOf(document: JsonObject, path: readonly string[]): PartitionKeyValue {
  const value: Value = readPath(document, path);
  if (typeof value === 'object' && value !== null)
    throw badRequest('The partition key of a document must be a scalar value.');
  return value;
}

function parseHeader(header: string): Json {
  try {
    return JSON.parse(header) as Json;
  } catch {
    throw badRequest(`Partition key ${header} is invalid.`);
  }
}

/** Reads the header `x-ms-documentdb-partitionkey`: a JSON array of one value, `[{}]` for undefined. */
export function parsePartitionKey(header: string): PartitionKeyValue {
  const parsed = parseHeader(header);
  if (!Array.isArray(parsed)) throw badRequest(`Partition key ${header} is invalid.`);
  const list = parsed as readonly Json[];
  if (list.length === 0) throw partitionKeyIncomplete();
  if (list.length > 1) throw badRequest(`Partition key ${header} has more components than the container.`);
  const value = list[0];
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value) || Object.keys(value).length > 0) throw badRequest(`Partition key ${header} is invalid.`);
  return undefined;
}

/** A text that is the same for equal keys and differs for different ones. */
export function partitionKeyText(value: PartitionKeyValue): string {
  return value === undefined ? '{}' : JSON.stringify(value);
}

function numberBytes(value: number): Buffer {
  const bytes = Buffer.alloc(9);
  bytes[0] = 0x05;
  // Minus zero and zero are one key.
  bytes.writeDoubleLE(value + 0, 1);
  return bytes;
}

function bytesOf(value: PartitionKeyValue): Buffer {
  if (typeof value === 'string') return Buffer.concat([Buffer.of(0x08), Buffer.from(value, 'utf8'), Buffer.of(0xff)]);
  if (typeof value === 'number') return numberBytes(value);
  if (typeof value === 'boolean') return Buffer.of(value ? 0x03 : 0x02);
  return Buffer.of(value === null ? 0x01 : 0x00);
}

/** The place of a key on the ring, 32 upper-case hexadecimal digits (P1). */
export function effectivePartitionKey(value: PartitionKeyValue): string {
  const [first, second] = murmurHash128(bytesOf(value));
  const bytes = Buffer.alloc(16);
  bytes.writeUInt32BE(second.high, 0);
  bytes.writeUInt32BE(second.low, 4);
  bytes.writeUInt32BE(first.high, 8);
  bytes.writeUInt32BE(first.low, 12);
  bytes[0] = (bytes[0] ?? 0) & 0x3f;
  return bytes.toString('hex').toUpperCase();
}
