/** From the outcome a client puts on a delivery to what the queue is to do. */
import type { Disposition } from '../queue/settle.js';
import type { EncodedProperty } from '../wire/application-properties.js';
import { types, type Outcome, type Typed } from './rhea.js';

const infoField = 2;
const annotationsField = 2;

/** The outcomes of AMQP by their names in rhea's events. */
export const outcomeEvents = ['accepted', 'rejected', 'released', 'modified'] as const;

/** What the outcome asks for. */
export function readDisposition(event: (typeof outcomeEvents)[number], outcome: Outcome): Disposition {
  switch (event) {
    case 'accepted':
      return { kind: 'complete', changes: [] };
    case 'released':
      return { kind: 'release', changes: [] };
    case 'modified':
      return {
        kind: outcome.undeliverable_here === true ? 'defer' : 'abandon',
        changes: readProperties(outcome.value[annotationsField]),
      };
    case 'rejected': {
      const error = outcome.value[0]?.value;
      const info = Array.isArray(error) ? (error[infoField] as Typed | undefined) : undefined;
      return { kind: 'deadLetter', changes: readProperties(info) };
    }
  }
}

/** The entries of a map, their values as AMQP bytes so that no type is lost; nulls mean nothing. */
function readProperties(map: Typed | undefined): EncodedProperty[] {
  const entries = map?.value;
  if (!Array.isArray(entries)) return [];
  const properties: EncodedProperty[] = [];
  for (let index = 0; index + 1 < entries.length; index += 2) {
    const [key, value] = [entries[index] as Typed, entries[index + 1] as Typed];
    if (value.value !== null) properties.push({ name: String(key.value), value: encode(value) });
  }
  return properties;
}

function encode(value: Typed): Buffer {
  const writer = new types.Writer();
  writer.write(value);
  return Buffer.from(writer.toBuffer());
}
