/**
 * What an agent knows of a remote service, whatever its protocol.
 *
 * What the pattern asks of a remote service:
 * RS1 Calls with one idempotency key have one effect and one answer; a refusal is remembered under its key too, so that a
 *     repeated request cannot succeed after the order was undone (T24).
 * RS2 A call with a lower fencing token than one seen for the order is refused (R101).
 * RS3 An undo of something never done succeeds and leaves a tombstone: the late *do* is then refused (T73).
 */

/** One call that may have a side effect. */
export interface RemoteCall {
  /** Operation of the service, for example `charges`. */
  readonly operation: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Two calls with one key have one effect (R23). */
  readonly idempotencyKey: string;
  /** A call with a lower token than the service has seen for the order must be refused (R101). */
  readonly fencingToken: number;
}

/** How a call ended. Only what is definite is told as definite (T23). */
export type RemoteOutcome =
  | { readonly kind: 'succeeded'; readonly reference: string }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }
  /** A newer attempt has been here: this one has nothing more to say. */
  | { readonly kind: 'fenced' }
  /** Definitely not done: there are too many calls now (a rate limit). The wait is what the service asks for, if it says. */
  | { readonly kind: 'busy'; readonly retryAfterMs?: number }
  /** It may or may not have happened: the same key may be tried again. The cause is a word for the log, never a text of others. */
  | { readonly kind: 'unknown'; readonly cause: string; readonly retryAfterMs?: number };

/** A remote service. Expected endings are outcomes; it never throws for them. */
export interface RemoteService {
  call(call: RemoteCall, signal: AbortSignal): Promise<RemoteOutcome>;
}
