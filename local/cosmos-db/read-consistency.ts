/**
 * The consistency of one read: what it asks for, what it costs, and how old it may be.
 *
 * Invariant
 * N1 A read never shows less than the client has seen: the log sequence number of its session token, if it sends one.
 */
import type { ConsistencyLevel } from './consistency.js';
import { isConsistencyLevel, isStronger, seesEveryWrite } from './consistency.js';
import type { Request } from './exchange.js';
import { header } from './exchange.js';
import { badRequest } from './wire-errors.js';

/** The account's level, or a weaker one that the request asks for; 400 for a stronger one. */
function consistencyOf(request: Request): ConsistencyLevel {
  const { consistency } = request.store;
  const requested = header(request, 'x-ms-consistency-level');
  if (requested === undefined) return consistency;
  if (!isConsistencyLevel(requested)) throw badRequest(`The consistency level ${requested} is not known.`);
  if (!isStronger(requested, consistency)) return requested;
  throw badRequest(
    `ConsistencyLevel ${requested} specified in the request is invalid when service is configured with consistency ` +
      `level ${consistency}. Ensure the request consistency level is not stronger than the service consistency level.`,
  );
}

/** By how much a read costs more than from one replica. */
export function readFactor(request: Request): number {
  return seesEveryWrite(consistencyOf(request)) ? 2 : 1;
}

/** Which writes a read shows. */
export type IsVisible = (write: { readonly at: number; readonly lsn: number }) => boolean;

/** Which writes a read shows when its replica is behind; `undefined` when it shows all. */
export function visibilityOf(request: Request): IsVisible | undefined {
  const { behindMs, now } = request;
  if (behindMs === 0 || seesEveryWrite(consistencyOf(request))) return undefined;
  const sessionToken = header(request, 'x-ms-session-token') ?? '';
  const seen = Math.max(0, ...Array.from(sessionToken.matchAll(/#(\d+)/g), ([, lsn]) => Number(lsn)));
  return ({ at, lsn }) => at <= now - behindMs || lsn <= seen; // N1
}
