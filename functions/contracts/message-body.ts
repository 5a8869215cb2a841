/**
 * What a message body may look like when it arrives: senders and runtimes hand over objects, text, text in text and
 * bytes, with or without a byte order mark (C17, C18).
 */

/** A JSON object. */
export type JsonObject = Record<string, unknown>;

/** True for a JSON object: not null, not an array, not binary. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);
}

/** The JSON object in a message body, or `undefined` when there is none. */
export function decodeMessageBody(body: unknown): JsonObject | undefined {
  const once = parseText(body);
  const decoded = typeof once === 'string' ? parseText(once) : once;
  return isJsonObject(decoded) ? decoded : undefined;
}

function parseText(value: unknown): unknown {
  if (typeof value !== 'string' && !(value instanceof Uint8Array)) return value;
  try {
    const text = typeof value === 'string' ? value : new TextDecoder('utf-8', { fatal: true }).decode(value);
    return JSON.parse(text.replace(/^\uFEFF/, '')) as unknown;
  } catch {
    return undefined;
  }
}
