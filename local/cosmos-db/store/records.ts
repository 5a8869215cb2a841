/**
 * The journal's records of the store, as text: a JSON head, then one document a line.
 *
 * Invariant
 * R1 Records are absolute: they hold whole versions with their counters, so that applying one twice changes nothing.
 */
import type { JsonObject } from '../query/values.js';
import type { PartitionKeyValue } from './partition-key.js';

/** A document written or removed. */
export type Change =
  | { readonly kind: 'put'; readonly sequence: number; readonly lsn: number; readonly body: string }
  | { readonly kind: 'remove'; readonly id: string; readonly partitionKey: PartitionKeyValue; readonly lsn: number };

export type StoreRecord =
  | { readonly kind: 'database'; readonly database: string }
  | { readonly kind: 'dropDatabase'; readonly database: string }
  | {
      readonly kind: 'container';
      readonly database: string;
      readonly definition: JsonObject;
      readonly lsn: number;
      readonly sequence: number;
    }
  | { readonly kind: 'dropContainer'; readonly database: string; readonly container: string }
  | {
      readonly kind: 'changes';
      readonly database: string;
      readonly container: string;
      readonly changes: readonly Change[];
    };

const NEWLINE = 0x0a;

type HeadChange =
  readonly ['p', number, number] | readonly ['r', string, NonNullable<PartitionKeyValue> | null, boolean, number];

interface ChangesHead {
  readonly kind: 'changes';
  readonly database: string;
  readonly container: string;
  readonly changes: readonly HeadChange[];
}

function headOf(change: Change): HeadChange {
  if (change.kind === 'put') return ['p', change.sequence, change.lsn];
  const isDefined = change.partitionKey !== undefined;
  return ['r', change.id, change.partitionKey ?? null, isDefined, change.lsn];
}

/** Writes a record down. */
export function encodeRecord(record: StoreRecord): Buffer {
  if (record.kind !== 'changes') return Buffer.from(JSON.stringify(record));
  const head: ChangesHead = { ...record, changes: record.changes.map(headOf) };
  let text = JSON.stringify(head);
  for (const change of record.changes) if (change.kind === 'put') text += `\n${change.body}`;
  return Buffer.from(text);
}

/** The lines of a record as texts of their own: parts of one text would keep all of it in memory. */
function* linesOf(record: Buffer): Generator<string, string> {
  let start = 0;
  for (let end = record.indexOf(NEWLINE); end >= 0; end = record.indexOf(NEWLINE, start)) {
    yield record.toString('utf8', start, end);
    start = end + 1;
  }
  yield record.toString('utf8', start);
  return '';
}

function decodeChanges(head: ChangesHead, lines: Iterator<string, string>): readonly Change[] {
  return head.changes.map((change) => {
    if (change[0] === 'p') return { kind: 'put', sequence: change[1], lsn: change[2], body: lines.next().value };
    return { kind: 'remove', id: change[1], partitionKey: change[3] ? change[2] : undefined, lsn: change[4] };
  });
}

/** Reads a record back. */
export function decodeRecord(record: Buffer): StoreRecord {
  const lines = linesOf(record);
  const head = JSON.parse(lines.next().value) as Exclude<StoreRecord, { kind: 'changes' }> | ChangesHead;
  return head.kind === 'changes' ? { ...head, changes: decodeChanges(head, lines) } : head;
}
