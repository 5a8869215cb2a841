/**
 * The log that appends go to: a write buffer in front of a file. Nothing reaches the file before `drain`, except when
 * the buffer is full; the journal decides when that is and what it means for durability.
 */
import { closeSync, fdatasync, fdatasyncSync, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { headerBytes, writeHeader } from './frames.js';

const bufferBytes = 256 * 1024;
const syncData = promisify(fdatasync);

export class LogFile {
  readonly #fd: number;
  readonly #buffer = Buffer.allocUnsafeSlow(bufferBytes);
  #buffered = 0;
  #written: number;

  private constructor(fd: number, size: number) {
    this.#fd = fd;
    this.#written = size;
  }

  /** Starts an empty log; the file must not exist. */
  static create(path: string): LogFile {
    return new LogFile(openSync(path, 'wx'), 0);
  }

  /** Opens a log to append behind its first `validBytes` bytes; what follows them is cut off (J2). */
  static reopen(path: string, validBytes: number): LogFile {
    const fd = openSync(path, 'r+');
    if (fstatSync(fd).size > validBytes) ftruncateSync(fd, validBytes);
    return new LogFile(fd, validBytes);
  }

  /** Bytes of the log, those in the buffer included. */
  get size(): number {
    return this.#written + this.#buffered;
  }

  add(record: Buffer): void {
    const frameBytes = headerBytes + record.length;
    if (frameBytes > bufferBytes - this.#buffered) this.drain();
    if (frameBytes > bufferBytes) {
      this.#addUnbuffered(record);
      return;
    }
    writeHeader(this.#buffer, this.#buffered, record);
    record.copy(this.#buffer, this.#buffered + headerBytes);
    this.#buffered += frameBytes;
  }

  /**
   * Hands what is buffered to the operating system; from here it survives the death of this process.
   *
   * @throws Error when the file was removed meanwhile: the system would go on taking what nobody can read again
   */
  drain(): void {
    this.#write(this.#buffer.subarray(0, this.#buffered));
    this.#buffered = 0;
    if (fstatSync(this.#fd).nlink === 0) throw new Error('its file was removed');
  }

  /** Makes what was drained survive a power loss. */
  async sync(): Promise<void> {
    await syncData(this.#fd);
  }

  /** `sync` without leaving the turn; quick when little was written since the last one. */
  syncNow(): void {
    fdatasyncSync(this.#fd);
  }

  close(): void {
    closeSync(this.#fd);
  }

  #addUnbuffered(record: Buffer): void {
    const header = Buffer.alloc(headerBytes);
    writeHeader(header, 0, record);
    this.#write(header);
    this.#write(record);
  }

  #write(bytes: Buffer): void {
    let done = 0;
    while (done < bytes.length) {
      const count = writeSync(this.#fd, bytes, done, bytes.length - done, this.#written);
      done += count;
      this.#written += count;
    }
  }
}
