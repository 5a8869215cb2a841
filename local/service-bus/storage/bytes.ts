/** Writes and reads the plain fields that records are made of. */

/** Writes fields into one buffer that is large enough from the start, or grows. */
export class ByteWriter {
  #buffer: Buffer;
  #length = 0;

  constructor(capacity: number) {
    this.#buffer = Buffer.allocUnsafe(capacity);
  }

  uint8(value: number): void {
    this.#ensure(1);
    this.#length = this.#buffer.writeUInt8(value, this.#length);
  }

  uint32(value: number): void {
    this.#ensure(4);
    this.#length = this.#buffer.writeUInt32BE(value, this.#length);
  }

  double(value: number): void {
    this.#ensure(8);
    this.#length = this.#buffer.writeDoubleBE(value, this.#length);
  }

  text(value: string): void {
    const length = Buffer.byteLength(value, 'utf8');
    this.uint32(length);
    this.#ensure(length);
    this.#length += this.#buffer.write(value, this.#length, 'utf8');
  }

  blob(value: Buffer): void {
    this.uint32(value.length);
    this.#ensure(value.length);
    this.#length += value.copy(this.#buffer, this.#length);
  }

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  #ensure(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(needed, 2 * this.#buffer.length));
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }
}

/** Reads fields in the order they were written. */
export class ByteReader {
  readonly #buffer: Buffer;
  #position = 0;

  constructor(buffer: Buffer) {
    this.#buffer = buffer;
  }

  isAtEnd(): boolean {
    return this.#position >= this.#buffer.length;
  }

  uint8(): number {
    return this.#buffer.readUInt8(this.#advance(1));
  }

  uint32(): number {
    return this.#buffer.readUInt32BE(this.#advance(4));
  }

  double(): number {
    return this.#buffer.readDoubleBE(this.#advance(8));
  }

  text(): string {
    const length = this.uint32();
    const start = this.#advance(length);
    return this.#buffer.toString('utf8', start, start + length);
  }

  /** A copy: the buffer read from may be reused. */
  blob(): Buffer {
    const length = this.uint32();
    const start = this.#advance(length);
    return Buffer.from(this.#buffer.subarray(start, start + length));
  }

  #advance(count: number): number {
    const start = this.#position;
    this.#position += count;
    return start;
  }
}
