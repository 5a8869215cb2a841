/** The failures that the supervisor counts, and what follows from them: RC3 and RC4. */
import { describe, expect, it } from 'vitest';
import { addMs, msBetween } from '../../functions/contracts/timestamp.js';
import { compensate, resubmit, retryUndo } from '../../functions/state/operator-transitions.js';
import type { RecoveryPolicy } from '../../functions/state/recovery-transitions.js';
import type { StateRecord } from '../../functions/state/state-record.js';
import {
  advanced,
  apply,
  claimed,
  claimLeaseMs,
  orderLifetimeMs,
  recoveryPolicy,
  replyTo,
  undoWorkflow,
} from '../support/builders.js';
import { startOfTime } from '../support/manual-clock.js';
import { afterFailures, afterPolicy, begun, dueAt, later, recovered, undoing } from '../support/recovery.js';

describe('the failures of an order', () => {
  // T38: retry while the failures of the step, this one counted, stay below the limit
  it.each([
    [0, 1, 'Error'],
    [1, 1, 'Error'],
    [0, 3, 'Pending'],
    [1, 3, 'Pending'],
    [2, 3, 'Error'],
    [3, 3, 'Error'],
    [4, 3, 'Error'],
  ])('at one step: after %d with a limit of %d it ends in %s', (failures, maxFailures, expected) => {
    const record = begun();
    const steps = record.steps.map((step) => ({ ...step, failureCount: step.id === 'payment' ? failures : 0 }));
    const ended = recovered({ ...record, steps, failureCount: failures }, afterPolicy({ maxFailures }));
    expect(ended).toMatchObject({ processState: expected, failureCount: failures + 1 });
    expect(ended.steps[0]?.failureCount).toBe(failures + 1);
  });

  it('are counted for each step: a good order is not given up whose every step fails once or twice (RC3, R32)', () => {
    let record = begun();
    for (const failures of [2, 2, 2]) record = advanced(afterFailures(record, failures), { outcome: 'succeeded' });
    expect(record).toMatchObject({ processState: 'Processed', failureCount: 6 });
    expect(record.steps.map(({ failureCount }) => failureCount)).toEqual([2, 2, 2]);
  });

  it('never cost more calls than the budget allows: it is enough for all failures of every step (R50)', () => {
    let record = begun();
    for (const failures of [2, 2, 2]) record = advanced(afterFailures(record, failures), { outcome: 'succeeded' });
    expect(record.budget.spent).toBe(record.budget.allowed);
  });

  it('give up with the cause, the step, a status and the owner kept (R111, T34)', () => {
    const record = recovered(afterFailures(begun(), 2));
    expect(record).toMatchObject({
      processState: 'Error',
      lockedBy: 'A-1.3',
      completeBy: null,
      error: { code: 'AttemptsExhausted', stepId: 'payment' },
    });
    expect(record.outbox.at(-1)).toMatchObject({ kind: 'OrderFailed', reason: { code: 'Failed' } });
  });

  it('begin anew for every step when an operator resubmits (R103)', () => {
    const given = recovered(afterFailures(begun(), 2));
    const input = { reason: 'mended', budgetGrant: 30, expiresAt: later(orderLifetimeMs) };
    const record = apply(given, resubmit, input);
    expect(record.steps.map(({ failureCount }) => failureCount)).toEqual([0, 0, 0]);
  });

  it('give up when the lifetime of the order is over (T68)', () => {
    const record = recovered(begun({ expiresAt: later(claimLeaseMs), completeBy: later(claimLeaseMs) }));
    expect(record).toMatchObject({ processState: 'Error', error: { code: 'Expired' } });
  });

  it('give up when the budget allows not even the cheapest step (R50)', () => {
    const budget = (spent: number): StateRecord => begun({ budget: { allowed: 10, spent } });
    expect(recovered(budget(8))).toMatchObject({ processState: 'Pending' });
    expect(recovered(budget(9))).toMatchObject({ processState: 'Error', error: { code: 'BudgetExhausted' } });
  });
});

describe('after the last failure, a workflow that says so is undone (RC4, R20, R36)', () => {
  const undoOrder = (fields: Partial<StateRecord> = {}): StateRecord =>
    begun({ workflowVersion: undoWorkflow.version, ...fields });
  const policy = { workflow: undoWorkflow, ...afterPolicy({ maxFailures: 1 }) };

  it('by its next attempt, with the cause on record and the time of a new order', () => {
    const record = recovered(undoOrder(), policy);
    const now = dueAt(undoOrder());
    expect(record).toMatchObject({
      processState: 'Compensating',
      lockedBy: null,
      completeBy: null,
      notBefore: now,
      failureCount: 1,
      expiresAt: addMs(now, orderLifetimeMs),
      error: { code: 'AttemptsExhausted', stepId: 'payment' },
    });
    expect(record.outbox).toEqual(undoOrder().outbox);
  });

  it('and then ends with the reason Undone', () => {
    const refund = advanced(claimed({ ...recovered(undoOrder(), policy), notBefore: startOfTime }));
    const record = advanced(refund, { outcome: 'succeeded' });
    expect(record).toMatchObject({ processState: 'Compensated', error: { code: 'AttemptsExhausted' } });
    expect(record.outbox.at(-1)).toMatchObject({ kind: 'OrderFailed', reason: { code: 'Undone' } });
  });

  it.each([
    ['its lifetime is over', { expiresAt: startOfTime }, 'Expired'],
    ['its budget is spent', { budget: { allowed: 4, spent: 4 } }, 'BudgetExhausted'],
  ])('also when %s', (_name, fields, code) => {
    const record = recovered(undoOrder(fields), { workflow: undoWorkflow });
    expect(record).toMatchObject({ processState: 'Compensating', error: { code } });
  });

  it('at once if it has dispatched nothing in all its lifetime: there is nothing to undo', () => {
    const old = { ...claimed(), workflowVersion: undoWorkflow.version, expiresAt: startOfTime };
    const record = recovered(old, { workflow: undoWorkflow, instance: 'stopped' });
    expect(record).toMatchObject({ processState: 'Compensated', error: { code: 'Expired' } });
    expect(record.outbox.at(-1)).toMatchObject({ kind: 'OrderFailed', reason: { code: 'Undone' } });
  });

  it('but goes to an operator if the build does not know it', () => {
    const record = recovered(undoOrder(), { ...policy, workflow: undefined });
    expect(record).toMatchObject({ processState: 'Error' });
  });
});

describe('the failures of an undo', () => {
  /** An attempt that undoes a payment and a reservation; the reservation comes first. */
  function undoingTwo(): StateRecord {
    const shipping = advanced(advanced(advanced(claimed()), {}), {});
    return advanced(claimed(advanced(shipping, replyTo(shipping, 'refused'))));
  }

  it('let it be repeated, and leave the count of forward failures alone (T74, T39)', () => {
    expect(recovered(undoing())).toMatchObject({
      processState: 'Compensating',
      lockedBy: null,
      compensationFailureCount: 1,
      failureCount: 0,
      compensation: [{ stepId: 'payment', failureCount: 1 }, {}],
    });
  });

  it('are counted for each undo: three undos may each fail twice (RC3)', () => {
    let record = afterFailures(undoingTwo(), 2);
    record = advanced(record, { outcome: 'succeeded' });
    record = advanced(afterFailures(record, 2), { outcome: 'succeeded' });
    expect(record).toMatchObject({ processState: 'Compensated', compensationFailureCount: 4 });
  });

  it('at the limit leave the others to be undone, and then call an operator (T38, R46, U2)', () => {
    const given = recovered(afterFailures(undoingTwo(), 2));
    expect(given).toMatchObject({ processState: 'Compensating', lockedBy: null });
    expect(given.compensation.find(({ stepId }) => stepId === 'inventory')).toMatchObject({
      state: 'Failed',
      error: { code: 'UndoAttemptsExhausted' },
    });
    const refund = advanced(claimed({ ...given, notBefore: startOfTime }));
    expect(advanced(refund, { outcome: 'succeeded' })).toMatchObject({ processState: 'CompensationFailed' });
    expect(recovered(afterFailures(undoing(), 2))).toMatchObject({
      processState: 'CompensationFailed',
      error: { code: 'UndoAttemptsExhausted', stepId: 'payment' },
    });
  });

  it('begin anew when an operator tries again (R45)', () => {
    const given = recovered(afterFailures(undoing(), 2));
    const expiresAt = later(orderLifetimeMs);
    const again = [
      apply(given, compensate, { reason: 'mended', expiresAt }),
      apply(given, retryUndo, { reason: 'mended', stepId: 'payment', expiresAt }),
    ];
    for (const { compensation } of again)
      expect(compensation[0]).toMatchObject({ state: 'Recorded', failureCount: 0, undoGeneration: 1 });
  });

  it('go on after the lifetime of the order: what was done must be undone', () => {
    expect(recovered(undoing({ expiresAt: startOfTime })).processState).toBe('Compensating');
  });
});

describe('the wait before the next attempt', () => {
  const waitMs = (failures: number, policy: Partial<RecoveryPolicy>, jitter = 0): number => {
    const merged = { ...recoveryPolicy, maxFailures: 50, ...policy };
    const steps = begun().steps.map((step) => ({ ...step, failureCount: failures }));
    const before = begun({ steps, failureCount: failures });
    const record = recovered(before, { policy: merged, jitter });
    return msBetween(dueAt(before), record.notBefore);
  };

  it('is twice as long after each failure, up to the longest wait (T10)', () => {
    const policy = { backoffMs: 1_000, maxBackoffMs: 5_000 };
    expect([0, 1, 2, 3, 40].map((failures) => waitMs(failures, policy))).toEqual([1_000, 2_000, 4_000, 5_000, 5_000]);
  });

  it('is longer by up to the same again, by jitter (T10)', () => {
    expect(waitMs(0, { backoffMs: 1_000 }, 0.25)).toBe(1_250);
    expect(waitMs(0, { backoffMs: 1_000 }, 1)).toBe(2_000);
  });

  it('is an extended period once the ordinary attempts of the step are used up; then the order is given up (R34)', () => {
    const policy = { maxFailures: 2, extendedRetries: 1, extendedWaitMs: 900_000 };
    expect(waitMs(0, policy)).toBe(1_000);
    expect(waitMs(1, policy)).toBe(900_000);
    const steps = begun().steps.map((step) => ({ ...step, failureCount: 2 }));
    expect(recovered(begun({ steps }), afterPolicy(policy)).processState).toBe('Error');
  });

  it('names the time by which the starter should have taken the order (T7)', () => {
    const record = recovered(begun());
    expect(record.completeBy).toBe(addMs(record.notBefore, recoveryPolicy.startByMs));
  });
});
