/**
 * Places for the calls of one agent: calls that hang take them all at worst, never the slots of the host that the other
 * requests and the scheduler need (R62).
 *
 * Invariants
 * BH1 So many calls are under way at most. The host has more slots than that (host.json), so a request is never left unread
 *     behind calls that hang: it is told at once that there is no place.
 * BH2 A request waits for a place only while some call may still be answered soon. When every call has been under way for
 *     so long that it is taken to hang, or too many requests wait already, it does not wait.
 * BH3 Calls for steps that have failed before share a part of the places: they may well hang again, and leave the others free.
 */
import { msBetween } from '../contracts/timestamp.js';
import type { Timestamp } from '../contracts/timestamp.js';
import type { Clock } from '../state/ports.js';

/** How many requests an agent works on at the same time, in one process. */
export interface AgentLimits {
  /** Calls under way. */
  readonly calls: number;
  /** Of them, calls for steps at which the order has failed before. */
  readonly callsAfterFailure: number;
  /** Requests that wait for the place of a call. */
  readonly waiting: number;
}

/** The place of one call. */
export interface Place {
  /** Must be called once, when the call has ended. */
  leave(): void;
}

/** The places of one agent. */
export interface Bulkhead {
  /** Takes a place, perhaps after a while; `undefined`: there is none now. */
  enter(afterFailure: boolean): Promise<Place | undefined>;
  /** How long a call is under way until it is taken to hang, in milliseconds; when to ask again for a place. */
  readonly hangAfterMs: number;
}

/** What a bulkhead needs. */
export interface BulkheadDeps {
  readonly clock: Clock;
  /** Waits so many milliseconds. */
  readonly wait: (ms: number) => Promise<unknown>;
}

interface CallUnderWay {
  readonly afterFailure: boolean;
  readonly since: Timestamp;
}

/** Creates empty places. */
export function createBulkhead(limits: AgentLimits, hangAfterMs: number, { clock, wait }: BulkheadDeps): Bulkhead {
  const underWay = new Set<CallUnderWay>();
  const wakeUps: (() => void)[] = [];
  let waiting = 0;

  const take = (afterFailure: boolean): Place => {
    const call = { afterFailure, since: clock.now() };
    underWay.add(call);
    return {
      leave: () => {
        underWay.delete(call);
        for (const wakeUp of wakeUps.splice(0)) wakeUp();
      },
    };
  };
  const hasPlace = (afterFailure: boolean): boolean => {
    const afterFailures = [...underWay].filter((call) => call.afterFailure).length;
    return underWay.size < limits.calls && (!afterFailure || afterFailures < limits.callsAfterFailure); // BH1, BH3
  };
  const msUntilAllHang = (): number => {
    const youngest = [...underWay].at(-1);
    return youngest === undefined ? 0 : hangAfterMs - msBetween(youngest.since, clock.now());
  };

  return {
    hangAfterMs,
    enter: async (afterFailure) => {
      while (!hasPlace(afterFailure)) {
        const waitMs = msUntilAllHang();
        const mayWait = !afterFailure && waitMs > 0 && waiting < limits.waiting; // BH2
        if (!mayWait) return undefined;
        waiting += 1;
        await Promise.race([new Promise<void>((wakeUp) => wakeUps.push(wakeUp)), wait(waitMs)]);
        waiting -= 1;
      }
      return take(afterFailure);
    },
  };
}
