import { describe, expect, it } from 'vitest';
import { addMs } from '../../functions/contracts/timestamp.js';
import { abandon, compensate, resubmit, retryUndo, skipUndo } from '../../functions/state/operator-transitions.js';
import { nextAction } from '../../functions/state/next-action.js';
import type { StateRecord } from '../../functions/state/state-record.js';
import { transitions } from '../../functions/state/transitions.js';
import {
  aRecord,
  advanced,
  apply,
  claimed,
  compensatingRecord,
  failedRecord,
  processedRecord,
  replyTo,
} from '../support/builders.js';
import { startOfTime } from '../support/manual-clock.js';

const reason = 'card was replaced';
const expiresAt = addMs(startOfTime, 86_400_000);
const input = { reason, budgetGrant: 30, expiresAt };

/** The undo of the payment failed for good. */
function undoFailed(): StateRecord {
  const undoing = advanced(claimed(compensatingRecord()));
  return advanced(undoing, replyTo(undoing, 'failed'));
}

/** Undos of payment and inventory failed for good. */
function twoUndosFailed(): StateRecord {
  const shipped = advanced(advanced(advanced(claimed()), {}), {});
  const first = advanced(claimed(advanced(shipped, replyTo(shipped, 'refused'))));
  const second = advanced(first, replyTo(first, 'failed'));
  return advanced(second, replyTo(second, 'failed'));
}

describe('resubmit', () => {
  it('lets an order in Error wait for another attempt (R103)', () => {
    expect(apply(failedRecord(), resubmit, input)).toMatchObject({
      processState: 'Pending',
      lockedBy: null,
      completeBy: null,
      notBefore: startOfTime,
      failureCount: 0,
      error: null,
      expiresAt: input.expiresAt,
    });
  });

  it('keeps the attempt number, so that no id is used twice (I3, T6)', () => {
    const record = apply(failedRecord(), resubmit, input);
    expect(record.attempt).toBe(1);
    expect(claimed(record)).toMatchObject({ attempt: 2, lockedBy: 'A-1.2' });
  });

  it('keeps completed steps and repeats only the one that failed (T84, R103)', () => {
    const paid = advanced(advanced(claimed()), {});
    const failed = advanced(paid, replyTo(paid, 'failed'));
    const record = advanced(claimed(apply(failed, resubmit, input)));
    expect(record.steps.map(({ state }) => state)).toEqual(['Completed', 'Running', 'NotStarted']);
    expect(record.compensation[1]).toMatchObject({ stepId: 'inventory', state: 'Recorded', uncertain: false });
  });

  it('gives a step that has definitely failed another key, each time, and leaves those of the others (R103)', () => {
    const keyOf = (record: StateRecord): string => {
      const action = nextAction(record);
      return action.kind === 'dispatch' ? action.idempotencyKey : action.kind;
    };
    let record = advanced(advanced(claimed()), {});
    for (const key of ['A-1.inventory', 'A-1.inventory.r2', 'A-1.inventory.r3']) {
      expect(keyOf(record)).toBe(key);
      expect(record.compensation[1]?.key).toBe(key);
      record = advanced(claimed(apply(advanced(record, replyTo(record, 'failed')), resubmit, input)));
    }
    expect(keyOf(advanced(record, {}))).toBe('A-1.shipping');
  });

  it('keeps the key of a step whose outcome is uncertain, so that nothing can be done twice', () => {
    const running = advanced(claimed());
    const uncertainAnswer = advanced(running, { ...replyTo(running, 'failed'), uncertain: true });
    const lost = { ...running, processState: 'Pending', lockedBy: null } as const;
    const again = advanced(claimed(lost));
    const lostEarlier = advanced(again, replyTo(again, 'failed'));
    const neverAnswered = { ...running, processState: 'Error' } as const;
    for (const record of [uncertainAnswer, lostEarlier, neverAnswered]) {
      const resubmitted = advanced(claimed(apply(record, resubmit, input)));
      expect(nextAction(resubmitted)).toMatchObject({ idempotencyKey: 'A-1.payment' });
      expect(resubmitted.compensation[0]).toMatchObject({ key: 'A-1.payment', uncertain: true });
    }
  });

  it('grants new calls on top of what is spent (R50)', () => {
    const grantedTo = (allowed: number, spent: number): number =>
      apply({ ...failedRecord(), budget: { allowed, spent } }, resubmit, input).budget.allowed;
    expect(grantedTo(30, 30)).toBe(60);
    expect(grantedTo(30, 12)).toBe(60);
    expect(grantedTo(10, 12)).toBe(42);
  });

  it('leaves a trace of who and why in the history', () => {
    expect(apply(failedRecord(), resubmit, input).history.at(-1)).toMatchObject({
      actor: 'operator',
      from: 'Error',
      to: 'Pending',
      note: `resubmit: ${reason}`,
    });
  });

  // C50: a second click finds the order Pending
  it.each([
    ['pending', aRecord()],
    ['processing', claimed()],
    ['processed', processedRecord()],
    ['being undone', compensatingRecord()],
    ['undone in part', undoFailed()],
  ])('is refused for an order that is %s', (_name, record) => {
    expect(resubmit.decide(record, input, startOfTime)).toEqual({ kind: 'refused', reason: 'wrongState' });
  });
});

describe('compensate', () => {
  it('lets an order in Error be undone by a new attempt (R36, R37)', () => {
    const record = apply(failedRecord(), compensate, input);
    expect(record).toMatchObject({ processState: 'Compensating', lockedBy: null, completeBy: null, attempt: 1 });
    expect(advanced(claimed(record)).compensation[0]).toMatchObject({ state: 'Running', requestId: 'A-1.2.payment' });
  });

  it('gives the undo new time, and leaves who and why in the history', () => {
    const record = apply({ ...failedRecord(), expiresAt: startOfTime }, compensate, input);
    expect(record.expiresAt).toBe(expiresAt);
    const trace = { actor: 'operator', to: 'Compensating', note: `compensate: ${reason}` };
    expect(record.history.at(-1)).toMatchObject(trace);
  });

  it('tries failed undos again (T76, C51)', () => {
    const record = apply({ ...undoFailed(), compensationFailureCount: 2 }, compensate, input);
    expect(record.compensation[0]?.state).toBe('Recorded');
    expect(record.compensationFailureCount).toBe(0);
  });

  it.each([
    ['pending', aRecord()],
    ['processing', claimed()],
    ['processed', processedRecord()],
    ['being undone', compensatingRecord()],
  ])('is refused for an order that is %s', (_name, record) => {
    expect(compensate.decide(record, input, startOfTime)).toEqual({ kind: 'refused', reason: 'wrongState' });
  });
});

describe('the key of an undo that is tried again', () => {
  const retried = (record: StateRecord): StateRecord =>
    advanced(claimed(apply(record, retryUndo, { reason, stepId: 'payment', expiresAt })));

  it('is another one after a definite failure, by either verb (R45, R103)', () => {
    const compensated = advanced(claimed(apply(undoFailed(), compensate, { reason, expiresAt })));
    for (const record of [retried(undoFailed()), compensated]) {
      expect(nextAction(record)).toMatchObject({ action: 'undo', idempotencyKey: 'A-1.payment.undo.r2' });
    }
  });

  it('stays while an earlier request of the undo may have had an effect', () => {
    const undoing = advanced(claimed(compensatingRecord()));
    const uncertainAnswer = advanced(undoing, { ...replyTo(undoing, 'failed'), uncertain: true });
    const again = advanced(claimed({ ...undoing, lockedBy: null }));
    const lostEarlier = advanced(again, replyTo(again, 'failed'));
    const neverAnswered = { ...undoing, processState: 'CompensationFailed' } as const;
    for (const record of [uncertainAnswer, lostEarlier, neverAnswered]) {
      expect(nextAction(retried(record))).toMatchObject({ idempotencyKey: 'A-1.payment.undo' });
    }
  });
});

describe('retryUndo', () => {
  it('tries the failed undo of one step again', () => {
    const record = apply(twoUndosFailed(), retryUndo, { reason, stepId: 'inventory', expiresAt });
    expect(record.processState).toBe('Compensating');
    expect(record.compensation.map(({ state }) => state)).toEqual(['Failed', 'Recorded', 'Skipped']);
  });

  it('has time to wait for a remote service that is away, however old the order is (T67, T68)', () => {
    const old = { ...undoFailed(), expiresAt: addMs(startOfTime, -1) };
    const again = advanced(claimed(apply(old, retryUndo, { reason, stepId: 'payment', expiresAt })));
    const deferred = advanced(again, { ...replyTo(again, 'deferred'), retryAfterMs: 1_000 });
    expect(deferred).toMatchObject({ processState: 'Compensating', lockedBy: null, expiresAt });
    expect(deferred.compensation[0]?.state).toBe('Recorded');
  });

  it('leaves who and why in the history', () => {
    const record = apply(undoFailed(), retryUndo, { reason, stepId: 'payment', expiresAt });
    const trace = { actor: 'operator', to: 'Compensating', note: `retry undo of payment: ${reason}` };
    expect(record.history.at(-1)).toMatchObject(trace);
  });

  it.each([
    ['the undo of that step did not fail', undoFailed(), 'inventory'],
    ['the log has no such step', undoFailed(), 'gone'],
    ['the order is still being undone', compensatingRecord(), 'payment'],
  ])('is refused when %s', (_name, record, stepId) => {
    for (const verb of [retryUndo, skipUndo]) {
      expect(verb.decide(record, { reason, stepId, expiresAt }, startOfTime)).toEqual({
        kind: 'refused',
        reason: 'wrongState',
      });
    }
  });
});

describe('skipUndo', () => {
  it('ends the order when no other undo is open', () => {
    const record = apply(undoFailed(), skipUndo, { reason, stepId: 'payment', expiresAt });
    expect(record.processState).toBe('Compensated');
    expect(record.compensation[0]?.state).toBe('Skipped');
    expect(record.history.some(({ note }) => note.includes(reason))).toBe(true);
  });

  it('leaves the order in CompensationFailed while another undo is failed, without a second status', () => {
    const before = twoUndosFailed();
    const record = apply(before, skipUndo, { reason, stepId: 'payment', expiresAt });
    expect(record.processState).toBe('CompensationFailed');
    expect(record.outbox).toEqual(before.outbox);
  });

  it('lets open undos of other steps go on', () => {
    const before = twoUndosFailed();
    const compensation = before.compensation.map((entry) =>
      entry.stepId === 'inventory' ? { ...entry, state: 'Recorded' as const } : entry,
    );
    const record = apply({ ...before, compensation }, skipUndo, { reason, stepId: 'payment', expiresAt });
    expect(record).toMatchObject({ processState: 'Compensating', lockedBy: null, expiresAt });
  });
});

describe('abandon', () => {
  it.each([
    ['waits', aRecord(), 'Error'],
    ['runs', advanced(claimed()), 'Error'],
    ['is being undone', compensatingRecord(), 'CompensationFailed'],
  ])('gives up an order that %s, with a status; the fence stops a running attempt', (_name, before, expected) => {
    const record = apply(before, abandon, { reason });
    expect(record).toMatchObject({
      processState: expected,
      lockedBy: null,
      completeBy: null,
      error: { code: 'Abandoned' },
    });
    expect(record.outbox.at(-1)?.kind).toBe('OrderFailed');
  });

  it('tells the application nothing new about an order that has failed before', () => {
    expect(apply(failedRecord(), abandon, { reason }).outbox).toEqual(failedRecord().outbox);
  });

  it('that comes twice leaves one entry in the history (I2)', () => {
    const abandoned = apply(advanced(claimed()), abandon, { reason });
    expect(abandoned.history.at(-1)).toMatchObject({ actor: 'operator', note: `Abandoned: ${reason}` });
    expect(abandon.decide(abandoned, { reason }, startOfTime)).toEqual({ kind: 'alreadyDone' });
  });

  it('is refused for a processed order', () => {
    expect(abandon.decide(processedRecord(), { reason }, startOfTime).kind).toBe('refused');
  });
});

describe('the table of transitions', () => {
  const terminal = ['Processed', 'Error', 'Compensated', 'CompensationFailed'];

  it('lets only an operator leave a terminal state (I4)', () => {
    for (const { name, actor, from } of Object.values(transitions)) {
      const leavesTerminal = from.some((state) => terminal.includes(state));
      expect(leavesTerminal && actor !== 'operator', name).toBe(false);
    }
  });

  it('has each transition under its own name', () => {
    for (const [name, transition] of Object.entries(transitions)) expect(transition.name).toBe(name);
  });

  it('lets nobody leave Processed or Compensated', () => {
    const left = Object.values(transitions).flatMap(({ from }) => from);
    expect(left).not.toContain('Processed');
    expect(left).not.toContain('Compensated');
  });
});
