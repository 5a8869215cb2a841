/** A stored document and its system properties. */
import type { JsonObject, Value } from '../query/values.js';
import type { PartitionKeyValue } from './partition-key.js';
import { badRequest } from '../wire-errors.js';
import { ridBytes, ridText } from './rid.js';

/** One document. It is the same object over all its versions; `sequence` is its fixed place in creation order. */
export interface StoredDocument {
  readonly id: string;
  readonly partitionKey: PartitionKeyValue;
  readonly sequence: number;
  /** The physical partition it lives in. */
  readonly partition: string;
  /** The whole document as JSON text, system properties included. */
  body: string;
  /** Length of the body in UTF-8. */
  size: number;
  etag: string;
  /** Log sequence number of the last write. */
  lsn: number;
  /** Time of the last write, in seconds. */
  timestamp: number;
  /** When it expires, in milliseconds; Infinity for never. */
  expiresAt: number;
  /** The values at the container's indexed paths, by slot. */
  keys: readonly Value[];
}

/** A version about to be stored. */
export interface DocumentVersion {
  readonly body: string;
  readonly etag: string;
  readonly lsn: number;
  readonly timestamp: number;
  readonly expiresAt: number;
}

const SYSTEM_PROPERTIES = ['_rid', '_self', '_etag', '_attachments', '_ts', '_lsn'] as const;

const RID_BYTES = 16;
const NUMBER_OFFSET = 8;
const HALF = 0x1_0000_0000;

/**
 * The `_rid` of a document: the eight bytes of the container's one, then its sequence, least byte first. Clients compare
 * these numbers to go on behind a document of an ordered query; the highest half byte, 0, says that it is a document.
 */
export function documentRid(containerRid: string, sequence: number): string {
  const bytes = Buffer.alloc(RID_BYTES);
  ridBytes(containerRid).copy(bytes);
  bytes.writeUInt32LE(sequence % HALF, NUMBER_OFFSET);
  bytes.writeUInt32LE(Math.floor(sequence / HALF), NUMBER_OFFSET + 4);
  return ridText(bytes);
}

/** The sequence in the `_rid` of a document. */
export function sequenceOfRid(rid: string): number {
  const bytes = ridBytes(rid);
  if (bytes.length !== RID_BYTES) throw badRequest(`${rid} is not the _rid of a document.`);
  return bytes.readUInt32LE(NUMBER_OFFSET) + bytes.readUInt32LE(NUMBER_OFFSET + 4) * HALF;
}

function withoutSystemProperties(document: JsonObject): JsonObject {
  if (!SYSTEM_PROPERTIES.some((name) => Object.hasOwn(document, name))) return document;
  const isSystem = new Set<string>(SYSTEM_PROPERTIES);
  return Object.fromEntries(Object.entries(document).filter(([name]) => !isSystem.has(name)));
}

/** What the server adds to a document. */
export interface SystemProperties {
  readonly rid: string;
  readonly self: string;
  readonly etag: string;
  readonly timestamp: number;
}

/** The user's properties followed by the system's, as JSON text without a line break. */
export function bodyWithSystemProperties(document: JsonObject, system: SystemProperties): string {
  const user = JSON.stringify(withoutSystemProperties(document)).slice(0, -1);
  const separator = user.length > 1 ? ',' : '';
  const etag = JSON.stringify(system.etag);
  return `${user}${separator}"_rid":"${system.rid}","_self":"${system.self}","_etag":${etag},"_attachments":"attachments/","_ts":${system.timestamp}}`;
}
