/** Sets application properties in an encoded message; everything else stays byte for byte. */
import { findSection, readSections, sectionCodes, type Section } from './sections.js';
import { encodeCompound, encodeText, mapEntries, readText } from './values.js';

/** A property with its AMQP-encoded value. */
export interface EncodedProperty {
  readonly name: string;
  readonly value: Buffer;
}

/** A property whose value is text. */
export function textProperty(name: string, value: string): EncodedProperty {
  return { name, value: encodeText(value) };
}

/** The message with these application properties added or replaced. */
export function setApplicationProperties(raw: Buffer, changes: readonly EncodedProperty[]): Buffer {
  if (changes.length === 0) return raw;
  const sections = readSections(raw);
  const section = findSection(sections, sectionCodes.applicationProperties);
  const merged = section === undefined ? new Map<string, EncodedPair>() : readPairs(raw, section);
  for (const { name, value } of changes) merged.set(name, [encodeText(name), value]);
  const next = sections.find(({ code }) => code > sectionCodes.applicationProperties);
  const start = section?.start ?? next?.start ?? raw.length;
  const rest = section?.value.end ?? start;
  const descriptor = Buffer.from([0x00, 0x53, sectionCodes.applicationProperties]);
  const map = encodeCompound(0xd1, [...merged.values()].flat());
  return Buffer.concat([raw.subarray(0, start), descriptor, map, raw.subarray(rest)]);
}

type EncodedPair = readonly [key: Buffer, value: Buffer];

function readPairs(raw: Buffer, section: Section): Map<string, EncodedPair> {
  const pairs = new Map<string, EncodedPair>();
  for (const { key, value } of mapEntries(raw, section.value.start)) {
    pairs.set(readText(raw, key) ?? '', [raw.subarray(key.start, key.end), raw.subarray(value.start, value.end)]);
  }
  return pairs;
}
