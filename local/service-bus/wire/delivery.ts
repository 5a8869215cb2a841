/** From a stored message to the bytes a receiver gets: header and annotations are the broker's, the rest is the sender's. */
import type { Message } from '../queue/message.js';
import { readSection, sectionCodes, type Section } from './sections.js';
import { compoundItems, mapEntries, readText } from './values.js';

const stateCodes = { active: 0, deferred: 1, scheduled: 2 } as const;

function symbol(name: string): Buffer {
  return Buffer.concat([Buffer.from([0xa3, name.length]), Buffer.from(name, 'ascii')]);
}

const keys = {
  enqueuedTime: symbol('x-opt-enqueued-time'),
  sequenceNumber: symbol('x-opt-sequence-number'),
  lockedUntil: symbol('x-opt-locked-until'),
  messageState: symbol('x-opt-message-state'),
  enqueueSequenceNumber: symbol('x-opt-enqueue-sequence-number'),
  deadLetterSource: symbol('x-opt-deadletter-source'),
} as const;

/** Annotations only the broker may set; a sender's own are dropped. */
const brokerOnly = new Set(Object.values(keys).map((key) => key.toString('ascii', 2)));

/** Long enough for the broker's six annotations and the longest queue name. */
const annotationSpace = 512;

class AnnotationWriter {
  readonly #bytes = Buffer.allocUnsafe(annotationSpace);
  #length = 0;
  count = 0;

  #key(key: Buffer): void {
    this.#length += key.copy(this.#bytes, this.#length);
    this.count += 2;
  }

  wide(key: Buffer, code: 0x81 | 0x83, value: number): void {
    this.#key(key);
    this.#bytes.writeUInt8(code, this.#length);
    this.#bytes.writeUInt32BE(Math.floor(value / 0x1_0000_0000), this.#length + 1);
    this.#bytes.writeUInt32BE(value % 0x1_0000_0000, this.#length + 5);
    this.#length += 9;
  }

  small(key: Buffer, value: number): void {
    this.#key(key);
    this.#length = this.#bytes.writeUInt8(0x54, this.#length);
    this.#length = this.#bytes.writeUInt8(value, this.#length);
  }

  text(key: Buffer, value: string): void {
    this.#key(key);
    const length = Buffer.byteLength(value, 'utf8');
    this.#length = this.#bytes.writeUInt8(0xb1, this.#length);
    this.#length = this.#bytes.writeUInt32BE(length, this.#length);
    this.#length += this.#bytes.write(value, this.#length, 'utf8');
  }

  bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }
}

/** The message as a receiver or a peek gets it. */
export function encodeDelivery(message: Message): Buffer {
  const { raw } = message;
  let header: Section | undefined;
  let annotations: Section | undefined;
  let rest = 0;
  while (rest < raw.length) {
    const section = readSection(raw, rest);
    if (section.code > sectionCodes.messageAnnotations) break;
    if (section.code === sectionCodes.header) header = section;
    if (section.code === sectionCodes.messageAnnotations) annotations = section;
    rest = section.value.end;
  }
  return Buffer.concat([
    encodeHeader(raw, header, message.deliveryCount),
    ...encodeAnnotations(raw, annotations, message),
    raw.subarray(rest),
  ]);
}

/** The sender's durable, priority, ttl and first-acquirer, with the broker's delivery count. */
function encodeHeader(raw: Buffer, section: Section | undefined, deliveryCount: number): Buffer {
  const fields = section === undefined ? [] : compoundItems(raw, section.value.start).slice(0, 4);
  const first = fields[0];
  const last = fields.at(-1);
  const sent = first === undefined || last === undefined ? Buffer.alloc(0) : raw.subarray(first.start, last.end);
  const nulls = 4 - fields.length;
  const size = 1 + sent.length + nulls + 5;
  const header = Buffer.allocUnsafe(5 + size);
  header.set([0x00, 0x53, sectionCodes.header, 0xc0, size, 5]);
  header.set(sent, 6);
  header.fill(0x40, 6 + sent.length, 6 + sent.length + nulls);
  header.writeUInt8(0x70, 6 + sent.length + nulls);
  header.writeUInt32BE(deliveryCount, 7 + sent.length + nulls);
  return header;
}

function encodeAnnotations(raw: Buffer, section: Section | undefined, message: Message): Buffer[] {
  const sent = section === undefined ? { bytes: [], count: 0 } : sentAnnotations(raw, section);
  const writer = new AnnotationWriter();
  writer.wide(keys.enqueuedTime, 0x83, message.enqueuedAt);
  writer.wide(keys.sequenceNumber, 0x81, message.sequence);
  writer.wide(keys.enqueueSequenceNumber, 0x81, message.enqueueSequence);
  writer.small(keys.messageState, message.wasScheduled ? stateCodes.scheduled : stateCodes[message.state]);
  if (message.lock !== undefined) writer.wide(keys.lockedUntil, 0x83, message.lock.until);
  if (message.deadLetterSource !== '') writer.text(keys.deadLetterSource, message.deadLetterSource);
  const own = writer.bytes();
  const length = sent.bytes.reduce((sum, bytes) => sum + bytes.length, own.length);
  const prefix = Buffer.allocUnsafe(12);
  prefix.set([0x00, 0x53, sectionCodes.messageAnnotations, 0xd1]);
  prefix.writeUInt32BE(length + 4, 4);
  prefix.writeUInt32BE(sent.count + writer.count, 8);
  return [prefix, ...sent.bytes, own];
}

function sentAnnotations(raw: Buffer, section: Section): { bytes: Buffer[]; count: number } {
  const bytes = mapEntries(raw, section.value.start)
    .filter(({ key }) => !brokerOnly.has(readText(raw, key) ?? ''))
    .map(({ key, value }) => raw.subarray(key.start, value.end));
  return { bytes, count: bytes.length * 2 };
}
