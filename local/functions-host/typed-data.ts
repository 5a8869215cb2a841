/** Converts between values of the host and the typed data of the worker's protocol, as the .NET host does. */
import type { TypedData } from './core-api.js';

/** Text that `JSON.parse` may accept; all other text is known to be text without trying. */
const mayBeJson = /^\s*["[{\-0-9tfn]/;

/** A string on its way to the function. The library parses it when it is JSON: `"123"` arrives as a number. */
export function textData(text: string): TypedData {
  return mayBeJson.test(text) ? { string: text } : { json: JSON.stringify(text) };
}

/** Any other value on its way to the function. */
export function jsonData(value: unknown): TypedData {
  return { json: JSON.stringify(value) };
}

/** JSON text of what a function returned. */
export function returnedJson(data: TypedData | null | undefined): string {
  if (data === null || data === undefined) return 'null';
  if (data.json !== undefined) return data.json;
  if (data.string !== undefined) return JSON.stringify(data.string);
  if (data.bytes !== undefined) return JSON.stringify(Buffer.from(data.bytes).toString('base64'));
  return JSON.stringify(data.int ?? data.double ?? null);
}

/** JSON text as the durable extension hands it to an activity: text stays text, a flag becomes .NET text, null is left out. */
export function activityInput(json: string): TypedData {
  switch (json) {
    case 'null':
      return {};
    case 'true':
      return jsonData('True');
    case 'false':
      return jsonData('False');
    default:
      return { json };
  }
}
