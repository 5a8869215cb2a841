import type { StatusMessage } from '../../client/index.js';

/** A status with its public reason, and when to try again if the order was not taken. */
export function statusText({ status, reason, retryAfterMs }: StatusMessage): string {
  if (reason === undefined) return status;
  const again = retryAfterMs === undefined ? '' : `; try again in ${Math.ceil(retryAfterMs / 1000)} s`;
  return `${status} (${reason.code}: ${reason.message}${again})`;
}
