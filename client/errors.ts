/** What the client throws. Each class answers one question of the caller; ids are fields. */
import type { RejectionReason } from '../functions/contracts/rejection.js';
import type { StatusMessage } from '../functions/contracts/status-message.js';

/** The order breaks the contract and was not sent. Sending it again as it is fails again. */
export class InvalidOrderError extends Error {
  override readonly name = 'InvalidOrderError';

  constructor(
    readonly reason: RejectionReason,
    description: string,
  ) {
    super(`The order was not sent (${reason}): ${description}`);
  }
}

/** The order could not be sent in time. It may have arrived all the same: submit the same order again, it counts once. */
export class SubmitFailedError extends Error {
  override readonly name = 'SubmitFailedError';

  constructor(
    readonly orderId: string,
    cause: unknown,
  ) {
    super(`Order ${orderId} could not be sent: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** The awaited status did not come in time. The order goes on; wait again, or ask an operator. */
export class StatusTimeoutError extends Error {
  override readonly name = 'StatusTimeoutError';

  constructor(
    readonly orderId: string,
    timeoutMs: number,
    /** The newest status that did come. */
    readonly latest: StatusMessage | undefined,
  ) {
    super(`No awaited status of order ${orderId} in ${timeoutMs} ms; the newest is ${latest?.status ?? 'none'}.`);
  }
}

/** The client was closed. */
export class ClientClosedError extends Error {
  override readonly name = 'ClientClosedError';

  constructor() {
    super('The order client is closed. Create another one.');
  }
}
