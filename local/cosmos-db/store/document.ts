/** A stored document and its system properties. */
import type { JsonObject, Value } from '../query/values.js';
import type { PartitionKeyValue } from './partition-key.js';

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

/** Digits that sort as their values, so that `_rid`s of a container sort in creation order. */
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The `_rid` of a document: the container's one, then its sequence in ten sortable digits. */
export function documentRid(containerRid: string, sequence: number): string {
  let rest = sequence;
  let digits = '';
  for (let place = 0; place < 10; place += 1) {
    digits = DIGITS.charAt(rest % DIGITS.length) + digits;
    rest = Math.floor(rest / DIGITS.length);
  }
  return `${containerRid.slice(0, 11)}${digits}A==`;
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
