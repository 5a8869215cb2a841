/**
 * When a document expires. A document's own `ttl` counts only in a container with a `defaultTtl`, as in the service.
 * Expired documents are hidden at read time; nothing waits for a sweep.
 */
import type { Json } from '../query/values.js';
import { badRequest } from '../wire-errors.js';

/** Refuses what the service refuses: a ttl that is no whole number above 0, apart from -1. */
export function checkTtl(ttl: Json | undefined): void {
  if (ttl === undefined) return;
  const isTtl = typeof ttl === 'number' && Number.isInteger(ttl) && (ttl === -1 || (ttl > 0 && ttl <= 0x7fffffff));
  if (!isTtl) {
    throw badRequest(
      "The input ttl 'value' is invalid. Ensure to provide a nonzero positive integer or -1 (never expires).",
    );
  }
}

/** The expiry in milliseconds of a document written at `timestamp` (seconds); Infinity for never. */
export function expiryOf(ttl: Json | undefined, defaultTtl: number | undefined, timestamp: number): number {
  if (defaultTtl === undefined) return Infinity;
  const seconds = typeof ttl === 'number' ? ttl : defaultTtl;
  return seconds === -1 ? Infinity : (timestamp + seconds) * 1000;
}
