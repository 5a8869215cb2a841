/** Two kinds of surprise, told apart by the one question a caller has: does trying again help? */

/** Trying again later may help: a timeout, a throttled or unavailable service, an unknown outcome. */
export class TransientError extends Error {
  override readonly name = 'TransientError';
}

/** Trying again changes nothing: a missing order, a record too large, a forbidden queue. */
export class PermanentError extends Error {
  override readonly name = 'PermanentError';

  constructor(
    /** Stable code, for records and alerts. */
    readonly code: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
