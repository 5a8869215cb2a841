/** The sections of an encoded AMQP message, found but not decoded. */
import { DecodeError } from '../errors.js';
import { checkValue, readInteger, readText, valueEnd, type Range } from './values.js';

/** Section codes of the AMQP 1.0 message format. */
export const sectionCodes = {
  header: 0x70,
  deliveryAnnotations: 0x71,
  messageAnnotations: 0x72,
  properties: 0x73,
  applicationProperties: 0x74,
  data: 0x75,
  sequence: 0x76,
  value: 0x77,
  footer: 0x78,
} as const;

const symbolicCodes: Readonly<Record<string, number>> = {
  'amqp:header:list': 0x70,
  'amqp:delivery-annotations:map': 0x71,
  'amqp:message-annotations:map': 0x72,
  'amqp:properties:list': 0x73,
  'amqp:application-properties:map': 0x74,
  'amqp:data:binary': 0x75,
  'amqp:amqp-sequence:list': 0x76,
  'amqp:value:*': 0x77,
  'amqp:footer:map': 0x78,
};

/** One section: where it starts with its descriptor, and where its value lies. */
export interface Section {
  readonly code: number;
  readonly start: number;
  readonly value: Range;
}

/** Reads one section at `at`. */
export function readSection(raw: Buffer, at: number): Section {
  if (raw[at] !== 0x00) throw new DecodeError('Expected a message section.');
  const descriptor = { start: at + 1, end: valueEnd(raw, at + 1) };
  const name = readText(raw, descriptor);
  const code = name === undefined ? readInteger(raw, descriptor) : symbolicCodes[name];
  if (code === undefined || code < sectionCodes.header || code > sectionCodes.footer) {
    throw new DecodeError('Unknown message section.');
  }
  return { code, start: at, value: { start: descriptor.end, end: valueEnd(raw, descriptor.end) } };
}

/**
 * The sections before the body, as far as they are there and can be read: what is known of a message whose rest is missing
 * or malformed.
 */
export function readHead(raw: Buffer): Buffer {
  let end = 0;
  try {
    while (end < raw.length) {
      const { code, value } = readSection(raw, end);
      if (code > sectionCodes.applicationProperties) break;
      checkValue(raw, value.start);
      end = value.end;
    }
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
  }
  return raw.subarray(0, end);
}

/** All sections, in the order of the message; refuses an order the format does not allow. */
export function readSections(raw: Buffer): Section[] {
  const sections: Section[] = [];
  let previous = 0;
  for (let at = 0; at < raw.length;) {
    const section = readSection(raw, at);
    const { code } = section;
    const mayRepeat = code === sectionCodes.data || code === sectionCodes.sequence;
    const isInOrder = code > previous || (mayRepeat && code === previous);
    if (!isInOrder) throw new DecodeError('The sections of the message are out of order.');
    // The JavaScript clients write the footer before the body.
    if (code !== sectionCodes.footer) previous = code;
    sections.push(section);
    at = section.value.end;
  }
  return sections;
}

/** Refuses a message that a receiver could not decode. */
export function checkSections(raw: Buffer, sections: readonly Section[]): void {
  for (const section of sections) checkValue(raw, section.value.start);
  const hasBody = sections.some(({ code }) => code >= sectionCodes.data && code <= sectionCodes.value);
  if (!hasBody) throw new DecodeError('The message has no body.');
}

/** The value of the section with this code. */
export function findSection(sections: readonly Section[], code: number): Section | undefined {
  return sections.find((section) => section.code === code);
}
