/** The answer that tells a client of an error. */
import type { Answer } from './exchange.js';
import { FAILED_CHARGE } from './request-charge.js';
import { errorBody, WireError } from './wire-errors.js';

/** The answer that tells of an error. */
export function errorAnswer(error: unknown, onInternalError: (error: unknown) => void): Answer {
  const isExpected = error instanceof WireError;
  if (!isExpected) onInternalError(error);
  const wire = isExpected
    ? error
    : new WireError(500, 'InternalServerError', 'The embedded Cosmos DB failed; see its log.');
  const { subStatus, retryAfterMs } = wire.details;
  return {
    status: wire.status,
    charge: wire.status === 429 ? 0 : FAILED_CHARGE,
    body: errorBody(wire),
    headers: [
      'x-ms-substatus',
      String(subStatus ?? 0),
      ...(retryAfterMs === undefined ? [] : ['x-ms-retry-after-ms', String(retryAfterMs)]),
    ],
  };
}
