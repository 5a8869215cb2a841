/** Limits of the service on what a message carries beside its body. */
import { wireErrors, type WireError } from '../errors.js';
import { limits } from '../limits.js';
import type { IncomingMessage } from './incoming.js';
import { findSection, readHead, readSections, sectionCodes } from './sections.js';
import { mapEntries } from './values.js';

/** Why the service would refuse one of the messages; undefined if it would take all of them. */
export function checkMessages(messages: readonly IncomingMessage[]): WireError | undefined {
  const problem = messages.map(problemOf).find((found) => found !== undefined);
  return problem === undefined ? undefined : wireErrors.invalidArgument(problem);
}

function problemOf({ messageId, raw }: IncomingMessage): string | undefined {
  if (messageId.length > limits.maxMessageIdLength) {
    return `A MessageId has at most ${limits.maxMessageIdLength} characters.`;
  }
  if (raw.length <= limits.maxPropertyBytes) return undefined; // As a whole no larger than one property may be.
  if (largestProperty(raw) > limits.maxPropertyBytes) {
    return `An application property has at most ${limits.maxPropertyBytes} bytes.`;
  }
  return readHead(raw).length > limits.maxHeadBytes
    ? `The properties of a message have at most ${limits.maxHeadBytes} bytes together.`
    : undefined;
}

function largestProperty(raw: Buffer): number {
  const section = findSection(readSections(raw), sectionCodes.applicationProperties);
  const entries = section === undefined ? [] : mapEntries(raw, section.value.start);
  return Math.max(0, ...entries.map(({ key, value }) => value.end - key.start));
}
