/**
 * Lock tokens. A delivery tag is a GUID in .NET byte order; $management carries the same GUID in RFC 4122 order.
 * Inside the broker a token is the 16 characters (latin1) of the delivery tag.
 */
import { randomFillSync } from 'node:crypto';

const poolSize = 16 * 1024;
const pool = Buffer.alloc(poolSize);
let used = poolSize;

/** A new random token. */
export function newLockToken(): string {
  if (used === poolSize) {
    randomFillSync(pool);
    used = 0;
  }
  used += 16;
  return pool.toString('latin1', used - 16, used);
}

/** The delivery tag of a token. */
export function tokenToTag(token: string): Buffer {
  return Buffer.from(token, 'latin1');
}

/** The token of a delivery tag. */
export function tagToToken(tag: Buffer): string {
  return tag.toString('latin1');
}

function swapOrder(bytes: Buffer): Buffer {
  const swapped = Buffer.from(bytes);
  swapped.subarray(0, 4).swap32();
  swapped.subarray(4, 6).swap16();
  swapped.subarray(6, 8).swap16();
  return swapped;
}

/** The token of a UUID in a $management request. */
export function uuidToToken(uuid: Buffer): string {
  return tagToToken(swapOrder(uuid));
}

/** The UUID of a token for a $management response. */
export function tokenToUuid(token: string): Buffer {
  return swapOrder(tokenToTag(token));
}
