import { describe, expect, it } from 'vitest';
import { addMs, msBetween } from '../../functions/contracts/timestamp.js';
import { claim, recover, release } from '../../functions/state/attempt-transitions.js';
import type { RecoverInput, RecoveryPolicy } from '../../functions/state/attempt-transitions.js';
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
  recoveryPolicy,
  workflowV1,
} from '../support/builders.js';
import { startOfTime } from '../support/manual-clock.js';

const later = (ms: number): string => addMs(startOfTime, ms);

function claimIt(record: StateRecord, attempt = record.attempt + 1, now = startOfTime): Decision {
  return claim.decide(record, { attempt, claimLeaseMs }, now);
}

function recoverInput(record: StateRecord, overrides: Partial<RecoverInput> = {}): RecoverInput {
  const observed = { observedLockedBy: record.lockedBy, observedCompleteBy: record.completeBy };
  return { ...observed, workflow: workflowV1, policy: recoveryPolicy, jitter: 0, ...overrides };
}

/** Recovers at the first moment at which that is allowed. */
function recovered(record: StateRecord, overrides: Partial<RecoverInput> = {}): StateRecord {
  const input = recoverInput(record, overrides);
  return apply(record, recover, input, addMs(record.completeBy ?? startOfTime, input.policy.graceMs));
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

describe('recover', () => {
  it('counts one failure and lets the order wait for another attempt (R109, R110)', () => {
    const record = recovered(advanced(claimed()));
    expect(record).toMatchObject({ processState: 'Pending', lockedBy: null, failureCount: 1, attempt: 1 });
    expect(record.error).toBeNull();
  });

  it('finds a claim whose attempt never started (C2, T1)', () => {
    expect(recovered(claimed())).toMatchObject({ processState: 'Pending', failureCount: 1, attempt: 1 });
  });

  // C45, T62, T63
  it('leaves an attempt alone until its deadline has passed by the grace', () => {
    const record = claimed();
    const due = addMs(record.completeBy ?? '', recoveryPolicy.graceMs);
    for (const early of [addMs(due, -1), record.completeBy ?? '', startOfTime]) {
      expect(recover.decide(record, recoverInput(record), early)).toEqual({ kind: 'refused', reason: 'notExpired' });
    }
    expect(recover.decide(record, recoverInput(record), due).kind).toBe('write');
  });

  it('waits for the start-by time when a claim has no deadline at all (C2, T8)', () => {
    const broken = { ...claimed(), completeBy: null };
    const due = later(recoveryPolicy.startByMs + recoveryPolicy.graceMs);
    expect(recover.decide(broken, recoverInput(broken), addMs(due, -1)).kind).toBe('refused');
    expect(apply(broken, recover, recoverInput(broken), due)).toMatchObject({
      processState: 'Pending',
      failureCount: 1,
    });
  });

  // T35, T36, T37: the record must be exactly as the supervisor saw it
  it.each([
    ['has finished meanwhile', processedRecord(), 'wrongState'],
    ['has ended in Error meanwhile', failedRecord(), 'wrongState'],
    ['was recovered by another supervisor', recovered(claimed()), 'wrongState'],
    ['has extended its deadline', advanced(claimed(), undefined, later(5_000)), 'changedMeanwhile'],
    ['is a newer attempt', claimed(recovered(claimed()), later(60_000)), 'changedMeanwhile'],
  ])('is refused when the attempt %s', (_name, record, reason) => {
    const seen = claimed();
    expect(recover.decide(record, recoverInput(seen), later(600_000))).toEqual({ kind: 'refused', reason });
  });

  it('is refused for an order that nobody owns', () => {
    const waiting = compensatingRecord();
    expect(recover.decide(waiting, recoverInput(waiting), later(600_000))).toEqual({
      kind: 'refused',
      reason: 'notExpired',
    });
  });

  // T38: retry while the failures, this one counted, stay below the limit
  it.each([
    [0, 1, 'Error'],
    [1, 1, 'Error'],
    [0, 3, 'Pending'],
    [1, 3, 'Pending'],
    [2, 3, 'Error'],
    [3, 3, 'Error'],
    [4, 3, 'Error'],
  ])('after %d failures with a limit of %d ends in %s', (failureCount, maxFailures, expected) => {
    const record = recovered({ ...claimed(), failureCount }, { policy: { ...recoveryPolicy, maxFailures } });
    expect(record).toMatchObject({ processState: expected, failureCount: failureCount + 1 });
  });

  it('gives up with the cause, a status and the owner kept (R111, T34)', () => {
    const record = recovered({ ...advanced(claimed()), failureCount: 2 });
    expect(record).toMatchObject({
      processState: 'Error',
      lockedBy: 'A-1.1',
      completeBy: null,
      error: { code: 'AttemptsExhausted' },
    });
    expect(record.outbox.at(-1)).toMatchObject({ kind: 'OrderFailed', reason: { code: 'Failed' } });
  });

  it('gives up when the lifetime of the order is over (T68)', () => {
    const record = recovered({ ...claimed(), expiresAt: later(claimLeaseMs) });
    expect(record).toMatchObject({ processState: 'Error', error: { code: 'Expired' } });
  });

  it('gives up when the budget allows not even the cheapest step (R50)', () => {
    const budget = (spent: number): StateRecord => ({ ...claimed(), budget: { allowed: 10, spent } });
    expect(recovered(budget(8))).toMatchObject({ processState: 'Pending' });
    expect(recovered(budget(9))).toMatchObject({ processState: 'Error', error: { code: 'BudgetExhausted' } });
  });

  it('recovers an order whose workflow this build does not know', () => {
    expect(recovered(claimed(), { workflow: undefined })).toMatchObject({ processState: 'Pending' });
  });

  describe('of an undo', () => {
    const undoing = (compensationFailureCount = 0): StateRecord => ({
      ...advanced(claimed(compensatingRecord())),
      compensationFailureCount,
    });

    it('lets it be repeated, and leaves the count of forward failures alone (T74, T39)', () => {
      expect(recovered(undoing())).toMatchObject({
        processState: 'Compensating',
        lockedBy: null,
        compensationFailureCount: 1,
        failureCount: 0,
      });
    });

    it.each([
      [0, 'Compensating'],
      [1, 'Compensating'],
      [2, 'CompensationFailed'],
      [3, 'CompensationFailed'],
    ])('after %d failures ends in %s (T38, R46)', (failures, expected) => {
      expect(recovered(undoing(failures)).processState).toBe(expected);
    });

    it('goes on after the lifetime of the order: what was done must be undone', () => {
      expect(recovered({ ...undoing(), expiresAt: startOfTime }).processState).toBe('Compensating');
    });
  });

  describe('waits before the next attempt', () => {
    const waitMs = (failureCount: number, policy: Partial<RecoveryPolicy>, jitter = 0): number => {
      const merged = { ...recoveryPolicy, maxFailures: 50, ...policy };
      const before = { ...claimed(), failureCount };
      const record = recovered(before, { policy: merged, jitter });
      return msBetween(addMs(before.completeBy ?? '', merged.graceMs), record.notBefore);
    };

    it('twice as long after each failure, up to the longest wait (T10)', () => {
      const policy = { backoffMs: 1_000, maxBackoffMs: 5_000 };
      expect([0, 1, 2, 3, 40].map((failures) => waitMs(failures, policy))).toEqual([1_000, 2_000, 4_000, 5_000, 5_000]);
    });

    it('longer by up to the same again, by jitter (T10)', () => {
      expect(waitMs(0, { backoffMs: 1_000 }, 0.25)).toBe(1_250);
      expect(waitMs(0, { backoffMs: 1_000 }, 1)).toBe(2_000);
    });

    it('an extended period once the ordinary attempts are used up, then gives up (R34)', () => {
      const policy = { ...recoveryPolicy, maxFailures: 2, extendedRetries: 1, extendedWaitMs: 900_000 };
      expect(waitMs(0, policy)).toBe(1_000);
      expect(waitMs(1, policy)).toBe(900_000);
      expect(recovered({ ...claimed(), failureCount: 2 }, { policy }).processState).toBe('Error');
    });

    it('and names the time by which the starter should have taken it (T7)', () => {
      const record = recovered(claimed());
      expect(record.completeBy).toBe(addMs(record.notBefore, recoveryPolicy.startByMs));
    });
  });
});
