/**
 * One circuit breaker a remote service (R119): when it answers nothing definite several times in a row, it is left alone
 * for a while, then one call tries it.
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

/** The circuit to one remote service. */
export interface CircuitBreaker {
  /** Whether a call may go through now; otherwise in how many milliseconds to ask again. */
  tryPass(): { readonly kind: 'pass' } | { readonly kind: 'open'; readonly retryAfterMs: number };
  /** What the call ended in. */
  report(isDefinite: boolean): void;
}

/** Creates a closed circuit. */
export function createCircuitBreaker(clock: Clock, { failureThreshold, openMs }: BreakerPolicy): CircuitBreaker {
  let failures = 0;
  let openUntil: Timestamp | undefined;
  return {
    tryPass: () => {
      if (openUntil === undefined) return { kind: 'pass' };
      const retryAfterMs = msBetween(clock.now(), openUntil);
      if (retryAfterMs > 0) return { kind: 'open', retryAfterMs };
      openUntil = addMs(clock.now(), openMs); // one call tries; the others keep waiting for its answer
      return { kind: 'pass' };
    },
    report: (isDefinite) => {
      failures = isDefinite ? 0 : failures + 1;
      if (failures === 0) openUntil = undefined;
      else if (failures >= failureThreshold) openUntil = addMs(clock.now(), openMs);
    },
  };
}
