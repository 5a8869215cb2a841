import { describe, expect, it } from 'vitest';
import { addMs } from '../../functions/contracts/timestamp.js';
import { claim, release } from '../../functions/state/attempt-transitions.js';
import type { Decision } from '../../functions/state/decision.js';
import type { StateRecord } from '../../functions/state/state-record.js';
import {
  aRecord,
  advanced,
  apply,
  claimed,
  claimLeaseMs,
  compensatingRecord,
  failedRecord,
  processedRecord,
} from '../support/builders.js';
import { startOfTime } from '../support/manual-clock.js';

const later = (ms: number): string => addMs(startOfTime, ms);

function claimIt(record: StateRecord, attempt = record.attempt + 1, now = startOfTime): Decision {
  return claim.decide(record, { attempt, claimLeaseMs }, now);
}

describe('claim', () => {
  it('gives a waiting order to the next attempt, with a completeBy in the same write (R86, I3, I5, T1)', () => {
    const record = apply(aRecord(), claim, { attempt: 1, claimLeaseMs });
    expect(record).toMatchObject({
      processState: 'Processing',
      attempt: 1,
      lockedBy: 'A-1.1',
      completeBy: later(claimLeaseMs),
      failureCount: 0,
    });
  });

  it('keeps an order that is to be undone in Compensating, under a higher attempt (T75)', () => {
    const record = claimed(compensatingRecord());
    expect(record).toMatchObject({ processState: 'Compensating', attempt: 2, lockedBy: 'A-1.2' });
    expect(record.completeBy).not.toBeNull();
  });

  it('is recognised when it is repeated (I2, T5)', () => {
    expect(claimIt(claimed(), 1)).toEqual({ kind: 'alreadyDone' });
  });

  it.each([
    ['not yet due', aRecord({ notBefore: later(1) }), 1],
    ['owned by another attempt', claimed(), 2],
    ['processed', { ...processedRecord(), lockedBy: null }, 2],
    ['in Error', { ...failedRecord(), lockedBy: null }, 2],
    ['already further than the starter has seen', aRecord({ attempt: 2 }), 2],
    ['not as far as the starter believes', aRecord(), 2],
  ])('is refused for an order that is %s (I3, I4)', (_name, record, attempt) => {
    expect(claimIt(record, attempt)).toEqual({ kind: 'refused', reason: 'notClaimable' });
  });

  it('holds from the very moment notBefore names', () => {
    const record = aRecord({ notBefore: later(10) });
    expect(claimIt(record, 1, later(9)).kind).toBe('refused');
    expect(claimIt(record, 1, later(10)).kind).toBe('write');
  });
});

describe('release', () => {
  const input = { instanceId: 'A-1.1', backoffMs: 1_000 };

  it('lets the order wait again and counts no failure; the attempt number stays used (I3)', () => {
    expect(apply(claimed(), release, input)).toMatchObject({
      processState: 'Pending',
      lockedBy: null,
      completeBy: null,
      notBefore: later(1_000),
      attempt: 1,
      failureCount: 0,
    });
  });

  it('keeps an order that is to be undone in Compensating', () => {
    const record = claimed(compensatingRecord());
    expect(apply(record, release, { ...input, instanceId: 'A-1.2' })).toMatchObject({
      processState: 'Compensating',
      lockedBy: null,
    });
  });

  it.each([
    ['another attempt owns the order', claimed(), 'A-1.7'],
    ['nobody owns it', aRecord(), 'A-1.1'],
    ['it is processed', processedRecord(), 'A-1.1'],
    ['it is in Error', failedRecord(), 'A-1.1'],
  ])('is refused when %s (I1, I4)', (_name, record, instanceId) => {
    expect(release.decide(record, { ...input, instanceId }, startOfTime)).toEqual({
      kind: 'refused',
      reason: 'superseded',
    });
  });
});

describe('release of an attempt that has begun', () => {
  it.each([
    ['a step', advanced(claimed()), 'A-1.1'],
    ['an undo', advanced(claimed(compensatingRecord())), 'A-1.2'],
  ])(
    'is refused when it has dispatched %s: the start was wrongly taken for refused (P2)',
    (_name, record, instanceId) => {
      const decision = release.decide(record, { instanceId, backoffMs: 1_000 }, startOfTime);
      expect(decision).toEqual({ kind: 'refused', reason: 'wrongState' });
    },
  );
});
