/** How long an order waits that its agent has deferred. */
import { addMs } from '../contracts/timestamp.js';
import type { Timestamp } from '../contracts/timestamp.js';

/** The waits of orders, in milliseconds. */
export interface DeferralPolicy {
  /** Wait after the first deferral of a step; doubles with each further one. */
  readonly backoffMs: number;
  readonly maxBackoffMs: number;
  /** 0 to 1: spreads the orders that were deferred together. */
  readonly jitter: number;
}

/**
 * When the step is tried again: not before the agent says, and after waits that grow and spread, so that the orders of an
 * outage neither come back all at once nor over and over (T10).
 *
 * @param deferrals how often the step was deferred before
 */
export function deferredUntil(
  now: Timestamp,
  { retryAfterMs, deferrals }: { readonly retryAfterMs: number | undefined; readonly deferrals: number },
  { backoffMs, maxBackoffMs, jitter }: DeferralPolicy,
): Timestamp {
  const grownMs = Math.min(backoffMs * 2 ** deferrals, maxBackoffMs);
  return addMs(now, Math.round(Math.max(retryAfterMs ?? 0, grownMs) + grownMs * jitter));
}
