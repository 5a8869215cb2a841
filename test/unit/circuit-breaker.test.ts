import { beforeEach, describe, expect, it } from 'vitest';
import { createCircuitBreaker } from '../../functions/agents/circuit-breaker.js';
import type { CircuitBreaker, Passage } from '../../functions/agents/circuit-breaker.js';
import { createManualClock } from '../support/manual-clock.js';
import type { ManualClock } from '../support/manual-clock.js';

const policy = { failureThreshold: 3, openMs: 1_000 };

let clock: ManualClock;
let breaker: CircuitBreaker;
beforeEach(() => {
  clock = createManualClock();
  breaker = createCircuitBreaker(clock, policy);
});

type Pass = Extract<Passage, { kind: 'pass' }>;

function begin(afterFailure = false): Pass {
  const passage = breaker.tryPass(afterFailure);
  if (passage.kind === 'open') throw new Error('expected the call to pass');
  return passage;
}

function callInVain(times: number): void {
  for (let count = 0; count < times; count += 1) begin().report(false);
}

const kindFor = (afterFailure: boolean): Passage['kind'] => breaker.tryPass(afterFailure).kind;

describe('the circuit breaker', () => {
  it('opens after so many calls in a row without a definite answer, and tells when to come again (R119)', () => {
    callInVain(2);
    expect(kindFor(false)).toBe('pass');
    callInVain(1);
    expect(breaker.tryPass(false)).toEqual({ kind: 'open', retryAfterMs: 1_000 });
  });

  it('forgets failures at a definite answer, a refusal too', () => {
    callInVain(2);
    begin().report(true);
    callInVain(2);
    expect(kindFor(false)).toBe('pass');
  });

  it('stays closed while calls hang and others, begun later, are answered (CB1)', () => {
    const hanging = Array.from({ length: 20 }, () => begin());
    begin().report(true);
    for (const call of hanging) call.report(false);
    expect(kindFor(false)).toBe('pass');
  });

  it('opens when calls hang that were begun after the last answer (CB1)', () => {
    begin().report(true);
    const hanging = Array.from({ length: 3 }, () => begin());
    for (const call of hanging) call.report(false);
    expect(kindFor(false)).toBe('open');
  });

  it('lets one call try when its time is over, and closes with its answer', () => {
    callInVain(3);
    clock.advance(1_000);
    const trying = begin();
    expect(kindFor(false)).toBe('open');
    trying.report(true);
    expect(kindFor(false)).toBe('pass');
  });

  it('lets no second call try while the first one hangs, however long (CB2)', () => {
    callInVain(3);
    clock.advance(1_000);
    const trying = begin();
    for (let minute = 0; minute < 10; minute += 1) {
      clock.advance(60_000);
      expect(breaker.tryPass(false)).toEqual({ kind: 'open', retryAfterMs: 1_000 });
    }
    trying.report(false);
    clock.advance(1_000);
    expect(kindFor(false)).toBe('pass');
  });

  it('opens again when that call has no answer either', () => {
    callInVain(3);
    clock.advance(1_000);
    begin().report(false);
    expect(breaker.tryPass(false)).toEqual({ kind: 'open', retryAfterMs: 1_000 });
  });

  it('is tried by a step that has failed before only when nobody else comes (CB3)', () => {
    callInVain(3);
    clock.advance(1_000);
    expect(breaker.tryPass(true)).toEqual({ kind: 'open', retryAfterMs: 1_000 });
    clock.advance(999);
    expect(kindFor(true)).toBe('open');
    clock.advance(1);
    expect(kindFor(true)).toBe('pass');
  });

  it('is tried by another order first, in the same moment, and closes for both (CB3)', () => {
    callInVain(3);
    clock.advance(1_000);
    expect(kindFor(true)).toBe('open');
    begin(false).report(true);
    expect(kindFor(true)).toBe('pass');
  });
});
