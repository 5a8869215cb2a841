/**
 * Looks at frames before rhea decodes them. rhea believes every length and count it reads; four bytes of a hostile frame
 * could ask it for four thousand million values.
 */
import { DecodeError } from '../errors.js';
import { checkValue, valueEnd } from './values.js';

export const protocolHeaderBytes = 8;
const frameHeaderBytes = 8;
const magic = 0x414d5150; // 'AMQP': no frame may be that large.

/** True when a protocol header comes next. */
export function startsWithHeader(input: Buffer): boolean {
  return input.length >= protocolHeaderBytes && input.readUInt32BE() === magic;
}

/** Refuses what rhea must not see among the complete frames at the start of `input`. */
export function checkFrames(input: Buffer, maxFrameBytes: number): void {
  for (let at = 0; at + frameHeaderBytes <= input.length;) {
    const size = input.readUInt32BE(at);
    if (size === magic) {
      at += protocolHeaderBytes;
      continue;
    }
    if (size < frameHeaderBytes || size > maxFrameBytes)
      throw new DecodeError(`A frame of ${size} bytes is not allowed.`);
    if (at + size > input.length) return;
    checkFrame(input.subarray(at, at + size));
    at += size;
  }
}

function checkFrame(frame: Buffer): void {
  const start = frame.readUInt8(4) * 4;
  if (start < frameHeaderBytes || start > frame.length) throw new DecodeError('A frame has a wrong data offset.');
  if (start === frame.length) return; // A heartbeat.
  if (frame[start] !== 0x00) throw new DecodeError('A frame holds no performative.');
  const fields = valueEnd(frame, start + 1);
  // Transfers, flows and most dispositions hold plain values only: no need to go deeper.
  if (hasCompoundFields(frame, fields)) checkValue(frame, start);
}

function hasCompoundFields(frame: Buffer, at: number): boolean {
  const end = valueEnd(frame, at);
  const code = frame.readUInt8(at);
  const isShort = code === 0xc0;
  const isLong = code === 0xd0;
  if (!isShort && !isLong) return code !== 0x45;
  const count = isShort ? frame.readUInt8(at + 2) : frame.readUInt32BE(at + 5);
  let position = at + (isShort ? 3 : 9);
  for (let index = 0; index < count; index += 1) {
    if (position >= end) throw new DecodeError('A performative claims more fields than it has.');
    const kind = frame.readUInt8(position);
    if (kind === 0x00 || kind >= 0xc0) return true;
    position = valueEnd(frame, position);
  }
  return false;
}
