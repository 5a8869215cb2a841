/** Writes the present state to a file in slices, so that traffic goes on in between. */
import { open } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { headerBytes, writeHeader } from './frames.js';

const sliceBytes = 256 * 1024;

/** Writes and fsyncs the records; returns the file's size, or undefined when `isCancelled` said so meanwhile. */
export async function writeSnapshot(
  path: string,
  records: Iterable<Buffer>,
  isCancelled: () => boolean,
): Promise<number | undefined> {
  const file = await open(path, 'w');
  try {
    let size = 0;
    for (const slice of slicesOf(records)) {
      await file.appendFile(slice);
      size += slice.length;
      await nextTurn();
      if (isCancelled()) return undefined;
    }
    await file.sync();
    return size;
  } finally {
    await file.close();
  }
}

/** Joins frames to slices of about `sliceBytes`; the records of one slice are taken within one turn. */
function* slicesOf(records: Iterable<Buffer>): Generator<Buffer> {
  let frames: Buffer[] = [];
  let size = 0;
  for (const record of records) {
    frames.push(frameOf(record));
    size += headerBytes + record.length;
    if (size >= sliceBytes) {
      yield Buffer.concat(frames);
      frames = [];
      size = 0;
    }
  }
  if (frames.length > 0) yield Buffer.concat(frames);
}

function frameOf(record: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(headerBytes + record.length);
  writeHeader(frame, 0, record);
  record.copy(frame, headerBytes);
  return frame;
}
