/** The supervisor's recovery: when it takes an order back, and RC1 and RC2. */
import { describe, expect, it } from 'vitest';
import { addMs, msBetween } from '../../functions/contracts/timestamp.js';
import type { InstanceState } from '../../functions/state/ports.js';
import { recover } from '../../functions/state/recovery-transitions.js';
import type { StateRecord } from '../../functions/state/state-record.js';
import {
  advanced,
  apply,
  claimed,
  claimLeaseMs,
  compensatingRecord,
  failedRecord,
  processedRecord,
  recoveryPolicy,
} from '../support/builders.js';
import { startOfTime } from '../support/manual-clock.js';
import { afterPolicy, begun, dueAt, later, recovered, recoverInput, undoing } from '../support/recovery.js';

describe('recover', () => {
  it('counts one failure and lets the order wait for another attempt (R109, R110)', () => {
    const record = recovered(begun());
    expect(record).toMatchObject({ processState: 'Pending', lockedBy: null, failureCount: 1, attempt: 1 });
    expect(record.error).toBeNull();
  });

  // C45, T62, T63
  it.each(['unknown', 'underWay'] as const)(
    'leaves an attempt that is %s alone until its deadline has passed by the grace',
    (instance) => {
      const record = begun();
      const due = dueAt(record);
      for (const early of [addMs(due, -1), record.completeBy ?? '', startOfTime]) {
        const decision = recover.decide(record, recoverInput(record, { instance }), early);
        expect(decision).toEqual({ kind: 'refused', reason: 'notExpired' });
      }
      expect(recover.decide(record, recoverInput(record, { instance }), due).kind).toBe('write');
    },
  );

  it.each(['timedOut', 'stopped'] as const)(
    'takes the order back at once from an attempt that has %s: it writes nothing more',
    (instance) => {
      const record = begun();
      expect(apply(record, recover, recoverInput(record, { instance }))).toMatchObject({ processState: 'Pending' });
    },
  );

  it('waits for the start-by time when a claim has no deadline at all (C2, T8)', () => {
    const broken = { ...claimed(), completeBy: null };
    const input = recoverInput(broken, { instance: 'unknown' });
    const due = later(recoveryPolicy.startByMs + recoveryPolicy.graceMs);
    expect(recover.decide(broken, input, addMs(due, -1)).kind).toBe('refused');
    expect(apply(broken, recover, input, due)).toMatchObject({ processState: 'Pending', lockedBy: null });
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

  it('recovers an order whose workflow this build does not know', () => {
    expect(recovered(begun(), { workflow: undefined })).toMatchObject({ processState: 'Pending' });
  });
});

describe('a slow or broken runtime is no failure of the order (RC1, T2)', () => {
  const orders: readonly (readonly [string, () => StateRecord])[] = [
    ['an order', claimed],
    ['an order with a dispatched step', begun],
    ['an undo', () => claimed(compensatingRecord())],
    ['an undo that was dispatched', undoing],
  ];
  const states: readonly InstanceState[] = ['unknown', 'stopped'];
  const cases = orders.flatMap(([name, order]) => states.map((instance) => [name, instance, order] as const));

  it.each(cases)('%s whose attempt is %s waits again and counts nothing', (_name, instance, order) => {
    const before = order();
    const record = recovered(before, { instance });
    const { failureCount, compensationFailureCount, steps, compensation } = before;
    expect(record).toMatchObject({ lockedBy: null, failureCount, compensationFailureCount });
    expect(record.steps).toEqual(steps);
    expect(record.compensation).toEqual(compensation);
    expect(record.processState).toBe(before.processState === 'Processing' ? 'Pending' : 'Compensating');
  });

  it('also an attempt that ended before it dispatched anything', () => {
    expect(recovered(claimed(), { instance: 'timedOut' })).toMatchObject({ processState: 'Pending', failureCount: 0 });
  });

  it('however often: only the lifetime of the order ends it', () => {
    const tired = { ...claimed(), failureCount: 2, attempt: 40, lockedBy: 'A-1.40' };
    expect(recovered(tired, { instance: 'stopped' })).toMatchObject({ processState: 'Pending', failureCount: 2 });
    const old = { ...tired, expiresAt: later(claimLeaseMs) };
    expect(recovered(old, { instance: 'stopped' })).toMatchObject({
      processState: 'Error',
      failureCount: 2,
      error: { code: 'Expired' },
    });
  });

  it('and only its lifetime ends an undo', () => {
    const old = { ...claimed(compensatingRecord()), expiresAt: startOfTime };
    expect(recovered(old, { instance: 'unknown' })).toMatchObject({
      processState: 'CompensationFailed',
      compensationFailureCount: 0,
      error: { code: 'UndoExpired' },
    });
  });

  it('waits longer with each attempt, never the extended wait', () => {
    const policy = { backoffMs: 1_000, maxBackoffMs: 5_000, extendedWaitMs: 900_000 };
    const waits = [1, 2, 3, 4, 60].map((attempt) => {
      const record = { ...claimed(), attempt, lockedBy: `A-1.${attempt}` };
      return msBetween(dueAt(record), recovered(record, { instance: 'stopped', ...afterPolicy(policy) }).notBefore);
    });
    expect(waits).toEqual([1_000, 2_000, 4_000, 5_000, 5_000]);
  });
});

describe('an attempt that the runtime still has (RC2)', () => {
  const underWay = { instance: 'underWay' } as const;

  function renewedTimes(record: StateRecord, times: number): StateRecord {
    let next = record;
    for (let count = 0; count < times; count += 1) next = recovered(next, underWay);
    return next;
  }

  it.each([
    ['has not begun', claimed],
    ['waits for an advance or a late timer', begun],
    ['undoes', undoing],
  ] as const)('and that %s keeps the order, with a new lease', (_name, order) => {
    const before = order();
    const record = recovered(before, underWay);
    expect(record).toMatchObject({
      processState: before.processState,
      lockedBy: before.lockedBy,
      attempt: before.attempt,
      failureCount: 0,
      completeBy: addMs(dueAt(before), claimLeaseMs),
    });
    expect(record.history.at(-1)).toMatchObject({ actor: 'supervisor' });
  });

  it('goes on with its order when it begins in the new lease', () => {
    expect(advanced(recovered(claimed(), underWay))).toMatchObject({
      attempt: 1,
      steps: [{ state: 'Running' }, {}, {}],
    });
  });

  it('has its full patience again after each step that it has dispatched', () => {
    const late = advanced(renewedTimes(claimed(), 5));
    expect(recovered(late, underWay)).toMatchObject({ lockedBy: 'A-1.1', processState: 'Processing' });
  });

  it('loses the order, without a failure, when it has kept it for six leases', () => {
    const patient = renewedTimes(claimed(), 5);
    expect(patient.lockedBy).toBe('A-1.1');
    const freed = recovered(patient, underWay);
    expect(freed).toMatchObject({ processState: 'Pending', lockedBy: null, failureCount: 0, notBegunSince: null });
    const next = claimed({ ...freed, notBefore: startOfTime });
    expect(recovered(next, underWay)).toMatchObject({ lockedBy: 'A-1.2' });
  });
});
