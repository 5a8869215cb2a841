import { beforeEach, describe, expect, it } from 'vitest';
import { createCircuitBreaker } from '../../functions/agents/circuit-breaker.js';
import { createManualClock } from '../support/manual-clock.js';
import type { ManualClock } from '../support/manual-clock.js';

let clock: ManualClock;
beforeEach(() => {
  clock = createManualClock();
});

describe('the circuit breaker', () => {
  const policy = { failureThreshold: 3, openMs: 1_000 };

  it('opens after so many calls in a row without a definite answer, and tells when to come again (R119)', () => {
    const breaker = createCircuitBreaker(clock, policy);
    breaker.report(false);
    breaker.report(false);
    expect(breaker.tryPass()).toEqual({ kind: 'pass' });
    breaker.report(false);
    expect(breaker.tryPass()).toEqual({ kind: 'open', retryAfterMs: 1_000 });
  });

  it('forgets failures at a definite answer, a refusal too', () => {
    const breaker = createCircuitBreaker(clock, policy);
    for (const isDefinite of [false, false, true, false, false]) breaker.report(isDefinite);
    expect(breaker.tryPass()).toEqual({ kind: 'pass' });
  });

  it('lets one call try when its time is over, and closes with its answer', () => {
    const breaker = createCircuitBreaker(clock, policy);
    for (let count = 0; count < 3; count += 1) breaker.report(false);
    clock.advance(1_000);
    expect(breaker.tryPass()).toEqual({ kind: 'pass' });
    expect(breaker.tryPass().kind).toBe('open');
    breaker.report(true);
    expect(breaker.tryPass()).toEqual({ kind: 'pass' });
  });

  it('opens again when that call has no answer either', () => {
    const breaker = createCircuitBreaker(clock, policy);
    for (let count = 0; count < 3; count += 1) breaker.report(false);
    clock.advance(1_000);
    breaker.tryPass();
    breaker.report(false);
    expect(breaker.tryPass()).toEqual({ kind: 'open', retryAfterMs: 1_000 });
  });
});
