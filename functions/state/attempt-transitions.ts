/**
 * How an attempt begins: claim and release by the starter.
 *
 * Invariants (design rules, cited by code and tests)
 * I1 Every write after the claim carries the fence: the writer's instance id is still `lockedBy`, and the ETag is unchanged.
 * I2 A lost or repeated write is recognised by reading back: the rule answers *alreadyDone*.
 * I3 `attempt` grows by one in each claim and never repeats.
 * I4 A terminal state is left only by an operator.
 * I5 A record is never claimed without a `completeBy`.
 * I6 Nothing is acknowledged to a queue before it is durable (kept by the triggers, not here).
 */
import { orchestrationInstanceId } from '../contracts/identifiers.js';
import { addMs } from '../contracts/timestamp.js';
import { alreadyDone, refused, write } from './decision.js';
import type { Transition } from './decision.js';
import { hasBegun } from './own-requests.js';
import { moved } from './record-edits.js';
import { isTerminal } from './state-record.js';

/** The starter wants to run this attempt. */
export interface ClaimInput {
  readonly attempt: number;
  /** How long the attempt may take to start before the supervisor looks at it (T1, T2). */
  readonly claimLeaseMs: number;
}

/** Pending or Compensating, free and due → owned by the next attempt, with a completeBy (R86, I3, I5). */
export const claim: Transition<ClaimInput> = {
  name: 'claim',
  actor: 'starter',
  from: ['Pending', 'Compensating'],
  to: ['Processing', 'Compensating'],
  decide: (record, { attempt, claimLeaseMs }, now) => {
    const instanceId = orchestrationInstanceId(record.orderId, attempt);
    if (record.lockedBy === instanceId) return isTerminal(record) ? refused('notClaimable') : alreadyDone;
    const waits = claim.from.includes(record.processState);
    const isFree = record.lockedBy === null;
    const isDue = record.notBefore <= now;
    const isNextAttempt = record.attempt + 1 === attempt;
    if (!(waits && isFree && isDue && isNextAttempt)) return refused('notClaimable');
    const to = record.processState === 'Pending' ? 'Processing' : 'Compensating';
    const fields = { attempt, lockedBy: instanceId, completeBy: addMs(now, claimLeaseMs) };
    return write(moved(record, { actor: 'starter', to, note: `attempt ${attempt} claimed`, fields }, now));
  },
};

/** The runtime refused to start the attempt that was just claimed. */
export interface ReleaseInput {
  readonly instanceId: string;
  readonly backoffMs: number;
}

/** Claimed, definitely not started and without a dispatched step → waiting again; no failure is counted. */
export const release: Transition<ReleaseInput> = {
  name: 'release',
  actor: 'starter',
  from: ['Processing', 'Compensating'],
  to: ['Pending', 'Compensating'],
  decide: (record, { instanceId, backoffMs }, now) => {
    const isOwner = record.lockedBy === instanceId;
    const isClaimed = release.from.includes(record.processState);
    if (!isOwner || !isClaimed) return refused('superseded');
    if (hasBegun(record)) return refused('wrongState');
    const to = record.processState === 'Processing' ? 'Pending' : 'Compensating';
    const fields = { lockedBy: null, completeBy: null, notBefore: addMs(now, backoffMs) };
    return write(moved(record, { actor: 'starter', to, note: 'start refused by the runtime', fields }, now));
  },
};
