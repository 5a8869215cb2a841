/** Reads parts of a parsed JSON file whose shape is not known. */
import type { RawProperties } from './queue-properties.js';

/** The value as an object; otherwise a problem, and an empty object to go on with. */
export function asObject(value: unknown, at: string, problems: string[]): RawProperties {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as RawProperties;
  problems.push(`${at} must be an object`);
  return {};
}

/** The value as a list of objects; otherwise a problem, and an empty list to go on with. */
export function asObjects(value: unknown, at: string, problems: string[]): RawProperties[] {
  if (!Array.isArray(value)) {
    problems.push(`${at} must be a list`);
    return [];
  }
  return value.map((item: unknown, index) => asObject(item, `${at}[${index}]`, problems));
}
