/**
 * One circuit breaker for each remote service (R119): when it answers nothing definite several times in a row, it is left
 * alone for a while, then one call tries it.
 *
 * Invariants
 * CB1 Only silence of the service as a whole opens the circuit. A call that hangs while others, begun later or at the same
 *     time, are answered says nothing about the service.
 * CB2 At most one call tries a service whose circuit is open, however long it hangs.
 * CB3 A step that has failed before is not the first to try it, because the same call may hang again: its turn comes after the same
 *     time again.
 */
import { addMs, msBetween } from '../contracts/timestamp.js';
import type { Timestamp } from '../contracts/timestamp.js';
import type { Clock } from '../state/ports.js';

/** Limits of a breaker. */
export interface BreakerPolicy {
  /** Calls without a definite answer, in a row, that open the circuit. */
  readonly failureThreshold: number;
  /** How long it stays open, in milliseconds. */
  readonly openMs: number;
}

/** Whether a call may go through now; otherwise in how many milliseconds to ask again. */
export type Passage =
  | {
      readonly kind: 'pass';
      /** Must be called once, with how the call ended. */
      report(isDefinite: boolean): void;
    }
  | { readonly kind: 'open'; readonly retryAfterMs: number };

/** The circuit to one remote service. */
export interface CircuitBreaker {
  /** `afterFailure`: an earlier call for the same step had no definite answer. */
  tryPass(afterFailure: boolean): Passage;
}

/** Creates a closed circuit. */
export function createCircuitBreaker(clock: Clock, { failureThreshold, openMs }: BreakerPolicy): CircuitBreaker {
  let failures = 0;
  let answers = 0;
  let openUntil: Timestamp | undefined;
  let isTried = false;

  const pass = (isTry: boolean): Passage => {
    const answersBefore = answers;
    return {
      kind: 'pass',
      report: (isDefinite) => {
        if (isTry) isTried = false;
        if (isDefinite) {
          answers += 1;
          failures = 0;
          openUntil = undefined;
        } else if (answers === answersBefore) {
          failures += 1; // CB1
          if (failures >= failureThreshold) openUntil = addMs(clock.now(), openMs);
        }
      },
    };
  };

  return {
    tryPass: (afterFailure) => {
      if (openUntil === undefined) return pass(false);
      const retryAfterMs = msBetween(clock.now(), afterFailure ? addMs(openUntil, openMs) : openUntil); // CB3
      if (retryAfterMs > 0) return { kind: 'open', retryAfterMs };
      if (isTried) return { kind: 'open', retryAfterMs: openMs }; // CB2
      isTried = true;
      return pass(true);
    },
  };
}
