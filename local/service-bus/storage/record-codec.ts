/**
 * Records as bytes. One journal record is a group: all records of one operation, replayed together or not at all.
 * Layout of a group: [version] then for each record [kind][fields]; numbers are big-endian.
 */
import type { Message, MessageState, QueueRecord } from '../queue/message.js';
import { ByteReader, ByteWriter } from './bytes.js';

const version = 1;
const kinds = { put: 1, remove: 2, state: 3, remember: 4, next: 5 } as const;
const states: readonly MessageState[] = ['active', 'deferred', 'scheduled'];

/** Encodes the records of one operation. */
export function encodeGroup(records: readonly QueueRecord[]): Buffer {
  const writer = new ByteWriter(64 + records.reduce((sum, record) => sum + estimate(record), 0));
  writer.uint8(version);
  for (const record of records) encodeRecord(writer, record);
  return writer.bytes();
}

function estimate(record: QueueRecord): number {
  return record.kind === 'put' ? 320 + record.message.raw.length : 320;
}

function encodeRecord(writer: ByteWriter, record: QueueRecord): void {
  writer.uint8(kinds[record.kind]);
  writer.text(record.queue);
  switch (record.kind) {
    case 'put':
      encodeMessage(writer, record.message);
      return;
    case 'remove':
    case 'next':
      writer.double(record.sequence);
      return;
    case 'state':
      writer.double(record.sequence);
      writer.uint8(states.indexOf(record.state));
      writer.uint32(record.deliveryCount);
      return;
    case 'remember':
      writer.text(record.messageId);
      writer.double(record.until);
  }
}

function encodeMessage(writer: ByteWriter, message: Message): void {
  writer.double(message.sequence);
  writer.double(message.enqueueSequence);
  writer.double(message.enqueuedAt);
  writer.double(message.expiresAt);
  writer.double(message.timeToLiveMs ?? Infinity);
  writer.double(message.scheduledFor);
  writer.uint8(message.wasScheduled ? 1 : 0);
  writer.uint8(states.indexOf(message.state));
  writer.uint32(message.deliveryCount);
  writer.text(message.messageId);
  writer.text(message.deadLetterSource);
  writer.blob(message.raw);
}

/** Decodes a group. */
export function decodeGroup(bytes: Buffer): QueueRecord[] {
  const reader = new ByteReader(bytes);
  const found = reader.uint8();
  if (found !== version) {
    throw new Error(`The journal has records of version ${found}; this broker reads version ${version}.`);
  }
  const records: QueueRecord[] = [];
  while (!reader.isAtEnd()) records.push(decodeRecord(reader));
  return records;
}

function decodeRecord(reader: ByteReader): QueueRecord {
  const kind = reader.uint8();
  const queue = reader.text();
  switch (kind) {
    case kinds.put:
      return { kind: 'put', queue, message: decodeMessage(reader) };
    case kinds.remove:
      return { kind: 'remove', queue, sequence: reader.double() };
    case kinds.next:
      return { kind: 'next', queue, sequence: reader.double() };
    case kinds.state:
      return {
        kind: 'state',
        queue,
        sequence: reader.double(),
        state: decodeState(reader),
        deliveryCount: reader.uint32(),
      };
    case kinds.remember:
      return { kind: 'remember', queue, messageId: reader.text(), until: reader.double() };
    default:
      throw new Error(`The journal has a record of unknown kind ${kind}.`);
  }
}

function decodeState(reader: ByteReader): MessageState {
  return states[reader.uint8()] ?? 'active';
}

function decodeMessage(reader: ByteReader): Message {
  const sequence = reader.double();
  const enqueueSequence = reader.double();
  const enqueuedAt = reader.double();
  const expiresAt = reader.double();
  const timeToLiveMs = reader.double();
  return {
    sequence,
    enqueueSequence,
    enqueuedAt,
    expiresAt,
    timeToLiveMs: timeToLiveMs === Infinity ? undefined : timeToLiveMs,
    scheduledFor: reader.double(),
    wasScheduled: reader.uint8() === 1,
    state: decodeState(reader),
    deliveryCount: reader.uint32(),
    messageId: reader.text(),
    deadLetterSource: reader.text(),
    raw: reader.blob(),
    lock: undefined,
    removed: false,
  };
}
