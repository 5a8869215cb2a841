/**
 * Frames: how records lie in a file. A frame is [length u32le][checksum u32le][payload].
 *
 * The checksum starts from a salt mixed with the length, so a wrong length is noticed and a run of zero bytes, as a
 * file system leaves after a power loss, is never a valid (empty) record.
 *
 * A write that was interrupted leaves a prefix of what it wanted to write: nothing readable follows it. That is a *torn*
 * tail (J2). A readable frame behind an unreadable one means that stored bytes were changed: the file is *damaged*.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { crc32 } from 'node:zlib';

export const headerBytes = 8;
export const maxRecordBytes = 256 * 1024 * 1024;

const salt = 0x5a17c0de;
const chunkBytes = 1024 * 1024;

/** What a scan found: `validBytes` is where the readable part ends. */
export interface ScanResult {
  readonly validBytes: number;
  readonly end: 'clean' | 'torn' | 'damaged';
}

type ReadAt = (offset: number, length: number) => Buffer | undefined;

/** Writes the header of `payload` at `offset` of `target`. */
export function writeHeader(target: Buffer, offset: number, payload: Buffer): void {
  target.writeUInt32LE(payload.length, offset);
  target.writeUInt32LE(checksum(payload), offset + 4);
}

/** Calls `onRecord` with a copy of each record of the file, in order, up to the first unreadable byte. */
export function scanFrames(path: string, onRecord: (record: Buffer) => void): ScanResult {
  const fd = openSync(path, 'r');
  try {
    const { size } = fstatSync(fd);
    const readAt = createReader(fd, size);
    let offset = 0;
    for (let payload = frameAt(readAt, offset); payload !== undefined; payload = frameAt(readAt, offset)) {
      // A copy, because whoever keeps a small record must not keep the whole chunk alive.
      onRecord(Buffer.from(payload));
      offset += headerBytes + payload.length;
    }
    if (offset === size) return { validBytes: offset, end: 'clean' };
    return { validBytes: offset, end: frameFollows(readAt, offset + 1, size) ? 'damaged' : 'torn' };
  } finally {
    closeSync(fd);
  }
}

function checksum(payload: Buffer): number {
  return crc32(payload, (salt ^ payload.length) >>> 0);
}

function frameAt(readAt: ReadAt, offset: number): Buffer | undefined {
  const header = readAt(offset, headerBytes);
  if (header === undefined) return undefined;
  const expected = header.readUInt32LE(4);
  const payload = readAt(offset + headerBytes, header.readUInt32LE(0));
  return payload !== undefined && checksum(payload) === expected ? payload : undefined;
}

function frameFollows(readAt: ReadAt, from: number, size: number): boolean {
  for (let offset = from; offset + headerBytes <= size; offset += 1) {
    if (frameAt(readAt, offset) !== undefined) return true;
  }
  return false;
}

/** Reads through a window of the file, so that small frames do not cost a system call each. */
function createReader(fd: number, size: number): ReadAt {
  let window: Buffer = Buffer.alloc(0);
  let start = 0;
  return (offset, length) => {
    if (length > maxRecordBytes || offset + length > size) return undefined;
    const isInWindow = offset >= start && offset + length <= start + window.length;
    if (!isInWindow) {
      window = readFully(fd, offset, Math.min(Math.max(length, chunkBytes), size - offset));
      start = offset;
    }
    return window.subarray(offset - start, offset - start + length);
  };
}

function readFully(fd: number, offset: number, length: number): Buffer {
  const target = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const count = readSync(fd, target, done, length - done, offset + done);
    if (count === 0) throw new Error(`The journal file ended at byte ${offset + done} while it was read.`);
    done += count;
  }
  return target;
}
