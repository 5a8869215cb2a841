/** From the bytes of a transfer to the messages to enqueue. */
import { randomUUID } from 'node:crypto';
import { DecodeError } from '../errors.js';
import { checkSections, findSection, readSections, sectionCodes, type Section } from './sections.js';
import {
  compoundItems,
  encodeCompound,
  encodeText,
  mapEntries,
  readBinary,
  readInteger,
  readText,
  type Range,
} from './values.js';

/** Format of a transfer whose data sections are whole messages. */
export const batchFormat = 0x80013700;

/** A message as a client sent it, with what the queue must know of it. */
export interface IncomingMessage {
  /** The encoded message, untouched but for a message-id if it had none. */
  readonly raw: Buffer;
  /** The message-id as a key; ids of different AMQP types never collide. */
  readonly messageId: string;
  /** The sender's time to live. */
  readonly timeToLiveMs: number | undefined;
  /** When a scheduled message is to become visible. */
  readonly scheduledFor: number | undefined;
}

/** The messages of one transfer. */
export function readBatch(payload: Buffer, format: number): IncomingMessage[] {
  return splitTransfer(payload, format).map(readMessage);
}

/** One message; it gets an id if it came without. */
export function readMessage(encoded: Buffer): IncomingMessage {
  return readIncoming(encoded, newMessageId);
}

/** The form the service gives to the ids it makes up. */
function newMessageId(): string {
  return randomUUID().replaceAll('-', '');
}

/** The encoded messages of one transfer; each is a copy that keeps no network buffer alive. */
function splitTransfer(payload: Buffer, format: number): Buffer[] {
  if (format !== batchFormat) return [Buffer.from(payload)];
  const messages: Buffer[] = [];
  for (const section of readSections(payload)) {
    if (section.code !== sectionCodes.data) continue;
    messages.push(Buffer.from(readBinary(payload, section.value) ?? Buffer.alloc(0)));
  }
  return messages;
}

/** Reads what the queue must know; `newId` names a message that came without an id. */
export function readIncoming(encoded: Buffer, newId: () => string): IncomingMessage {
  const sections = readSections(encoded);
  checkSections(encoded, sections);
  const header = findSection(sections, sectionCodes.header);
  const scheduledFor = readAnnotation(encoded, sections, 'x-opt-scheduled-enqueue-time');
  const identified = identify(encoded, sections, newId);
  return {
    ...identified,
    timeToLiveMs: header === undefined ? undefined : readField(encoded, header, 2),
    scheduledFor: scheduledFor === undefined ? undefined : readInteger(encoded, scheduledFor),
  };
}

function readField(raw: Buffer, section: Section, index: number): number | undefined {
  const field = compoundItems(raw, section.value.start)[index];
  return field === undefined ? undefined : readInteger(raw, field);
}

function readAnnotation(raw: Buffer, sections: readonly Section[], name: string): Range | undefined {
  const section = findSection(sections, sectionCodes.messageAnnotations);
  if (section === undefined) return undefined;
  return mapEntries(raw, section.value.start).find(({ key }) => readText(raw, key) === name)?.value;
}

function identify(
  raw: Buffer,
  sections: readonly Section[],
  newId: () => string,
): Pick<IncomingMessage, 'raw' | 'messageId'> {
  const properties = findSection(sections, sectionCodes.properties);
  const fields = properties === undefined ? [] : compoundItems(raw, properties.value.start);
  const id = fields[0];
  if (id !== undefined && raw[id.start] !== 0x40) return { raw, messageId: messageIdKey(raw, id) };
  const messageId = newId();
  const others = fields.slice(1).map((field) => raw.subarray(field.start, field.end));
  const section = encodeCompound(0xd0, [encodeText(messageId), ...others]);
  return { raw: replaceProperties(raw, sections, section), messageId };
}

/** Text is its own key; other types carry a prefix that no 128-character text id of a client is likely to repeat. */
function messageIdKey(raw: Buffer, id: Range): string {
  const text = readText(raw, id);
  if (text !== undefined) return text;
  const isKnownType = readInteger(raw, id) !== undefined || raw[id.start] === 0x98 || readBinary(raw, id) !== undefined;
  if (!isKnownType) throw new DecodeError('The message-id has a type that AMQP does not allow.');
  return `\u0000${raw.toString('hex', id.start, id.end)}`;
}

function replaceProperties(raw: Buffer, sections: readonly Section[], list: Buffer): Buffer {
  const next = sections.find(({ code }) => code >= sectionCodes.properties);
  const start = next?.start ?? raw.length;
  const isProperties = next?.code === sectionCodes.properties;
  const rest = isProperties ? next.value.end : start;
  const descriptor = Buffer.from([0x00, 0x53, sectionCodes.properties]);
  return Buffer.concat([raw.subarray(0, start), descriptor, list, raw.subarray(rest)]);
}
