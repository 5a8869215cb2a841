/** String functions. */
import type { Value } from '../values.js';
import { isArray } from '../values.js';
import type { FunctionTable, QueryFunction } from './registry.js';
import { comparingText, textual } from './registry.js';

/** A result may not outgrow a document. */
const MAX_RESULT_LENGTH = 2 * 1024 * 1024;

function withCount(apply: (text: string, count: number) => Value): QueryFunction {
  return {
    minimum: 2,
    maximum: 2,
    apply: ([text, count]) =>
      typeof text === 'string' && typeof count === 'number' ? apply(text, Math.max(0, Math.trunc(count))) : undefined,
  };
}

function concatenate(values: readonly Value[]): Value {
  return values.every((value) => typeof value === 'string') ? values.join('') : undefined;
}

function replaceAll([text, found, replacement]: readonly Value[]): Value {
  if (typeof text !== 'string' || typeof found !== 'string' || typeof replacement !== 'string') return undefined;
  return found === '' ? text : text.split(found).join(replacement);
}

function substring([text, start, count]: readonly Value[]): Value {
  if (typeof text !== 'string' || typeof start !== 'number' || typeof count !== 'number') return undefined;
  const from = Math.max(0, Math.trunc(start));
  return text.slice(from, from + Math.max(0, Math.trunc(count)));
}

function indexOf([text, part, from]: readonly Value[]): Value {
  if (typeof text !== 'string' || typeof part !== 'string') return undefined;
  return text.indexOf(part, typeof from === 'number' ? from : 0);
}

function toText(value: Value): Value {
  if (value === undefined) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function repeat(text: string, count: number): Value {
  return text.length * count > MAX_RESULT_LENGTH ? undefined : text.repeat(count);
}

function parsed(text: string, isWanted: (value: unknown) => boolean): Value {
  try {
    const value = JSON.parse(text) as Value;
    return isWanted(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function matches([text, pattern, modifiers]: readonly Value[]): Value {
  if (typeof text !== 'string' || typeof pattern !== 'string') return undefined;
  if (modifiers !== undefined && (typeof modifiers !== 'string' || !/^[imsx]*$/.test(modifiers))) return undefined;
  try {
    return new RegExp(pattern, (modifiers ?? '').replace('x', '')).test(text);
  } catch {
    return undefined;
  }
}

function split([text, separator]: readonly Value[]): Value {
  return typeof text === 'string' && typeof separator === 'string' ? text.split(separator) : undefined;
}

function join([list, separator]: readonly Value[]): Value {
  if (!isArray(list) || typeof separator !== 'string') return undefined;
  return list.every((value) => typeof value === 'string') ? list.join(separator) : undefined;
}

export const TEXT_FUNCTIONS: FunctionTable = {
  CONCAT: { minimum: 2, maximum: Infinity, apply: concatenate },
  CONTAINS: comparingText((text, part) => text.includes(part)),
  STARTSWITH: comparingText((text, part) => text.startsWith(part)),
  ENDSWITH: comparingText((text, part) => text.endsWith(part)),
  STRINGEQUALS: comparingText((text, part) => text === part),
  INDEX_OF: { minimum: 2, maximum: 3, apply: indexOf },
  LEFT: withCount((text, count) => text.slice(0, count)),
  RIGHT: withCount((text, count) => text.slice(Math.max(0, text.length - count))),
  LENGTH: textual((text) => text.length),
  LOWER: textual((text) => text.toLowerCase()),
  UPPER: textual((text) => text.toUpperCase()),
  TRIM: textual((text) => text.trim()),
  LTRIM: textual((text) => text.trimStart()),
  RTRIM: textual((text) => text.trimEnd()),
  REVERSE: textual((text) => Array.from(text).reverse().join('')),
  REPLACE: { minimum: 3, maximum: 3, apply: replaceAll },
  REPLICATE: withCount(repeat),
  SUBSTRING: { minimum: 3, maximum: 3, apply: substring },
  REGEXMATCH: { minimum: 2, maximum: 3, apply: matches },
  STRINGSPLIT: { minimum: 2, maximum: 2, apply: split },
  STRINGJOIN: { minimum: 2, maximum: 2, apply: join },
  TOSTRING: { minimum: 1, maximum: 1, apply: ([value]) => toText(value) },
  STRINGTOARRAY: textual((text) => parsed(text, Array.isArray)),
  STRINGTOBOOLEAN: textual((text) => parsed(text, (value) => typeof value === 'boolean')),
  STRINGTONULL: textual((text) => parsed(text, (value) => value === null)),
  STRINGTONUMBER: textual((text) => parsed(text, (value) => typeof value === 'number')),
  STRINGTOOBJECT: textual((text) =>
    parsed(text, (value) => typeof value === 'object' && value !== null && !Array.isArray(value)),
  ),
};
