/** MurmurHash3 x64, 128 bits, on pairs of 32-bit halves; the hash behind version 2 partition keys. */

/** A 64-bit number as two unsigned halves; changed in place. */
interface Word {
  high: number;
  low: number;
}

const C1: Readonly<Word> = { high: 0x87c37b91, low: 0x114253d5 };
const C2: Readonly<Word> = { high: 0x4cf5ad43, low: 0x2745937f };
const FINAL_1: Readonly<Word> = { high: 0xff51afd7, low: 0xed558ccd };
const FINAL_2: Readonly<Word> = { high: 0xc4ceb9fe, low: 0x1a85ec53 };

function multiply(word: Word, factor: Readonly<Word>): void {
  const a = word.low & 0xffff;
  const b = word.low >>> 16;
  const c = factor.low & 0xffff;
  const d = factor.low >>> 16;
  const lowest = a * c;
  const middle = a * d + (lowest >>> 16);
  const other = b * c + (middle & 0xffff);
  const carry = b * d + Math.floor(middle / 0x10000) + Math.floor(other / 0x10000);
  word.high = (carry + Math.imul(word.high, factor.low) + Math.imul(word.low, factor.high)) >>> 0;
  word.low = ((other & 0xffff) * 0x10000 + (lowest & 0xffff)) >>> 0;
}

function add(word: Word, other: Readonly<Word>): void {
  const low = word.low + other.low;
  word.high = (word.high + other.high + (low > 0xffffffff ? 1 : 0)) >>> 0;
  word.low = low >>> 0;
}

function xor(word: Word, other: Readonly<Word>): void {
  word.high = (word.high ^ other.high) >>> 0;
  word.low = (word.low ^ other.low) >>> 0;
}

function rotateLeft(word: Word, bits: number): void {
  const { high, low } = bits < 32 ? word : { high: word.low, low: word.high };
  const shift = bits % 32;
  word.high = ((high << shift) | (low >>> (32 - shift))) >>> 0;
  word.low = ((low << shift) | (high >>> (32 - shift))) >>> 0;
}

function times5Plus(word: Word, constant: number): void {
  multiply(word, { high: 0, low: 5 });
  add(word, { high: 0, low: constant });
}

function mixFinally(word: Word): void {
  for (const factor of [FINAL_1, FINAL_2]) {
    xor(word, { high: 0, low: word.high >>> 1 });
    multiply(word, factor);
  }
  xor(word, { high: 0, low: word.high >>> 1 });
}

function mixFirst(h1: Word, k1: Word): void {
  multiply(k1, C1);
  rotateLeft(k1, 31);
  multiply(k1, C2);
  xor(h1, k1);
}

function mixSecond(h2: Word, k2: Word): void {
  multiply(k2, C2);
  rotateLeft(k2, 33);
  multiply(k2, C1);
  xor(h2, k2);
}

function readWord(bytes: Buffer, at: number): Word {
  return { low: bytes.readUInt32LE(at), high: bytes.readUInt32LE(at + 4) };
}

/** The hash as its two 64-bit halves, seed 0. */
export function murmurHash128(bytes: Buffer): readonly [Readonly<Word>, Readonly<Word>] {
  const h1: Word = { high: 0, low: 0 };
  const h2: Word = { high: 0, low: 0 };
  const blocks = Math.floor(bytes.length / 16) * 16;
  for (let at = 0; at < blocks; at += 16) {
    mixFirst(h1, readWord(bytes, at));
    rotateLeft(h1, 27);
    add(h1, h2);
    times5Plus(h1, 0x52dce729);
    mixSecond(h2, readWord(bytes, at + 8));
    rotateLeft(h2, 31);
    add(h2, h1);
    times5Plus(h2, 0x38495ab5);
  }
  const tail = Buffer.alloc(16);
  bytes.copy(tail, 0, blocks);
  mixSecond(h2, readWord(tail, 8));
  mixFirst(h1, readWord(tail, 0));
  return finish(h1, h2, bytes.length);
}

function finish(h1: Word, h2: Word, length: number): readonly [Word, Word] {
  xor(h1, { high: 0, low: length });
  xor(h2, { high: 0, low: length });
  add(h1, h2);
  add(h2, h1);
  mixFinally(h1);
  mixFinally(h2);
  add(h1, h2);
  add(h2, h1);
  return [h1, h2];
}
