/**
 * Reads AMQP 1.0 values in place, without turning them into JavaScript values: a message is stored and handed on as the
 * bytes that came, so no AMQP type is lost on the way.
 */
import { DecodeError } from '../errors.js';

/** Deeper nesting than any client of ours produces; a bound keeps a hostile document off the stack. */
const maxDepth = 32;

/** A part of a buffer, end exclusive. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** Width of the value, or of its size field, by the upper half of the type code. */
const widths: Readonly<Record<number, number>> = { 4: 0, 5: 1, 6: 2, 7: 4, 8: 8, 9: 16 };
const sizeWidths: Readonly<Record<number, number>> = { 10: 1, 11: 4, 12: 1, 13: 4, 14: 1, 15: 4 };

function ensure(buffer: Buffer, end: number): number {
  if (end > buffer.length) throw new DecodeError('A value ends beyond its message.');
  return end;
}

function readSize(buffer: Buffer, at: number, width: number): number {
  ensure(buffer, at + width);
  return width === 1 ? buffer.readUInt8(at) : buffer.readUInt32BE(at);
}

/** The position after the value (with its descriptors) that starts at `at`. */
export function valueEnd(buffer: Buffer, at: number, depth = 0): number {
  if (depth > maxDepth) throw new DecodeError('A value is described too many times.');
  ensure(buffer, at + 1);
  const code = buffer.readUInt8(at);
  if (code !== 0x00) return bodyEnd(buffer, code, at + 1);
  return valueEnd(buffer, valueEnd(buffer, at + 1, depth + 1), depth + 1);
}

function bodyEnd(buffer: Buffer, code: number, at: number): number {
  const width = widths[code >>> 4];
  if (width !== undefined) return ensure(buffer, at + width);
  const sizeWidth = sizeWidths[code >>> 4];
  if (sizeWidth === undefined) throw new DecodeError(`Unknown type code 0x${code.toString(16)}.`);
  return ensure(buffer, at + sizeWidth + readSize(buffer, at, sizeWidth));
}

/** The items of a list or map; null counts as empty. */
export function compoundItems(buffer: Buffer, at: number): Range[] {
  const code = buffer.readUInt8(at);
  if (code === 0x40 || code === 0x45) return [];
  const kind = code >>> 4;
  const isCompound = kind === 0xc || kind === 0xd;
  if (!isCompound) throw new DecodeError('Expected a list or a map.');
  const width = sizeWidths[kind] ?? 1;
  const end = bodyEnd(buffer, code, at + 1);
  const count = readSize(buffer, at + 1 + width, width);
  return readItems(buffer, { start: at + 1 + 2 * width, end }, count);
}

/** The entries of a map. */
export function mapEntries(buffer: Buffer, at: number): { readonly key: Range; readonly value: Range }[] {
  const items = compoundItems(buffer, at);
  const entries: { key: Range; value: Range }[] = [];
  for (let index = 0; index + 1 < items.length; index += 2) {
    entries.push({ key: items[index] as Range, value: items[index + 1] as Range });
  }
  return entries;
}

function readItems(buffer: Buffer, within: Range, count: number): Range[] {
  const items: Range[] = [];
  let position = within.start;
  for (let index = 0; index < count; index += 1) {
    const end = valueEnd(buffer, position);
    if (end > within.end) throw new DecodeError('An item ends beyond its list or map.');
    items.push({ start: position, end });
    position = end;
  }
  return items;
}

/** Refuses a value that a receiver could not decode, at any depth. */
export function checkValue(buffer: Buffer, at: number, depth = 0): number {
  if (depth > maxDepth) throw new DecodeError('A value is nested too deeply.');
  let position = at;
  while (ensure(buffer, position + 1) && buffer.readUInt8(position) === 0x00) {
    position = checkValue(buffer, position + 1, depth + 1);
  }
  const end = valueEnd(buffer, position);
  const kind = buffer.readUInt8(position) >>> 4;
  if (kind === 0xc || kind === 0xd) {
    for (const item of compoundItems(buffer, position)) checkValue(buffer, item.start, depth + 1);
  }
  if (kind === 0xe || kind === 0xf) checkArray(buffer, { start: position, end });
  return end;
}

function checkArray(buffer: Buffer, range: Range): void {
  const width = buffer.readUInt8(range.start) >>> 4 === 0xe ? 1 : 4;
  const count = readSize(buffer, range.start + 1 + width, width);
  // Zero-width elements would let four bytes stand for four thousand million values.
  if (count > range.end - range.start) throw new DecodeError('An array claims more elements than it has bytes.');
}

const integerReaders: Readonly<Record<number, (buffer: Buffer, at: number) => number>> = {
  0x43: () => 0,
  0x44: () => 0,
  0x50: (buffer, at) => buffer.readUInt8(at),
  0x52: (buffer, at) => buffer.readUInt8(at),
  0x53: (buffer, at) => buffer.readUInt8(at),
  0x54: (buffer, at) => buffer.readInt8(at),
  0x55: (buffer, at) => buffer.readInt8(at),
  0x60: (buffer, at) => buffer.readUInt16BE(at),
  0x70: (buffer, at) => buffer.readUInt32BE(at),
  0x71: (buffer, at) => buffer.readInt32BE(at),
  0x80: (buffer, at) => Number(buffer.readBigUInt64BE(at)),
  0x81: (buffer, at) => Number(buffer.readBigInt64BE(at)),
  0x83: (buffer, at) => Number(buffer.readBigInt64BE(at)),
};

/** An unsigned or signed integer, or a timestamp; undefined for null and other types. */
export function readInteger(buffer: Buffer, range: Range): number | undefined {
  return integerReaders[buffer.readUInt8(range.start)]?.(buffer, range.start + 1);
}

/** A string or symbol; undefined for null and other types. */
export function readText(buffer: Buffer, range: Range): string | undefined {
  const code = buffer.readUInt8(range.start);
  const isShort = code === 0xa1 || code === 0xa3;
  const isLong = code === 0xb1 || code === 0xb3;
  if (!isShort && !isLong) return undefined;
  return buffer.toString('utf8', range.start + (isShort ? 2 : 5), range.end);
}

/** The bytes of a binary value; undefined for null and other types. */
export function readBinary(buffer: Buffer, range: Range): Buffer | undefined {
  const code = buffer.readUInt8(range.start);
  if (code !== 0xa0 && code !== 0xb0) return undefined;
  return buffer.subarray(range.start + (code === 0xa0 ? 2 : 5), range.end);
}

/** Encodes a string. */
export function encodeText(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length < 256) return Buffer.concat([Buffer.from([0xa1, bytes.length]), bytes]);
  const prefix = Buffer.alloc(5);
  prefix.writeUInt8(0xb1, 0);
  prefix.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([prefix, bytes]);
}

/** Encodes a list (0xd0) or map (0xd1) of already encoded items. */
export function encodeCompound(code: 0xd0 | 0xd1, items: readonly Buffer[]): Buffer {
  const body = Buffer.concat(items);
  const prefix = Buffer.alloc(9);
  prefix.writeUInt8(code, 0);
  prefix.writeUInt32BE(body.length + 4, 1);
  prefix.writeUInt32BE(items.length, 5);
  return Buffer.concat([prefix, body]);
}
