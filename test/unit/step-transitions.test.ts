import { describe, expect, it } from 'vitest';
import { addMs, msBetween } from '../../functions/contracts/timestamp.js';
import { dispatchCost } from '../../functions/state/order-workflow.js';
import type { StateRecord } from '../../functions/state/state-record.js';
import { advance, fail } from '../../functions/state/step-transitions.js';
import {
  aRecord,
  advanced,
  advanceInput,
  apply,
  claimed,
  compensatingRecord,
  deferral,
  failedRecord,
  mustFind,
  orderLifetimeMs,
  processedRecord,
  replyTo,
  stepDeadlineMs,
  workflowV1,
} from '../support/builders.js';
import { startOfTime } from '../support/manual-clock.js';

const later = (ms: number): string => addMs(startOfTime, ms);
const running = (): StateRecord => advanced(claimed());
const statesOf = (record: StateRecord): string[] => record.steps.map(({ state }) => state);

/** The same order, claimed and started once more after its first attempt was lost. */
function secondAttempt(first: StateRecord): StateRecord {
  const waiting = { ...first, processState: 'Pending', lockedBy: null } as const;
  return advanced(claimed(waiting));
}

describe('the first advance of an attempt', () => {
  it('starts the first step with its request and deadline (R8, R9, R90)', () => {
    const record = running();
    expect(record).toMatchObject({ processState: 'Processing', lockedBy: 'A-1.1', completeBy: later(stepDeadlineMs) });
    expect(record.steps[0]).toMatchObject({
      id: 'payment',
      state: 'Running',
      requestId: 'A-1.1.payment',
      startedAt: startOfTime,
      completeBy: later(stepDeadlineMs),
    });
    expect(statesOf(record)).toEqual(['Running', 'NotStarted', 'NotStarted']);
  });

  it('records what may have to be undone in the same write, in references only (A2, T71, T72, R47)', () => {
    const references = { seq: 1, stepId: 'payment', action: 'refund', key: 'A-1.payment' };
    const own = { state: 'Recorded', requestId: null, uncertain: false, deferrals: 0, failureCount: 0 };
    const undo = { undoGeneration: 1, undoUncertain: false };
    expect(running().compensation).toEqual([{ ...references, ...own, ...undo }]);
  });

  it('gives the step its own share of the deadline (R9)', () => {
    const steps = workflowV1.steps.map((step) => ({ ...step, deadlineShare: 3 }));
    const record = claimed();
    const started = apply(record, advance, { ...advanceInput(record), workflow: { ...workflowV1, steps } });
    expect(started.completeBy).toBe(later(3 * stepDeadlineMs));
  });

  it('spends the calls that the dispatch can cause (R50, T70)', () => {
    expect(running().budget.spent).toBe(dispatchCost(mustFind(workflowV1.steps[0])));
  });

  it('is recognised when it is repeated, and spends nothing again (A3, I2)', () => {
    const record = running();
    expect(advance.decide(record, advanceInput(record), later(50))).toEqual({ kind: 'alreadyDone' });
  });

  it('is refused to an attempt that does not own the order (I1, R88, T4, T40, C23)', () => {
    const record = running();
    for (const instanceId of ['A-1.2', 'A-1.0', 'B-1.1']) {
      const input = { ...advanceInput(record), instanceId };
      expect(advance.decide(record, input, startOfTime)).toEqual({ kind: 'refused', reason: 'superseded' });
    }
    const waiting = aRecord();
    expect(advance.decide(waiting, advanceInput(waiting), startOfTime).kind).toBe('refused');
  });

  it('gives a step no more time than the order has left (T68)', () => {
    const record = advanced({ ...claimed(), expiresAt: later(1_500) });
    expect(record.completeBy).toBe(later(1_500));
  });

  it.each([
    ['its lifetime is over', (record: StateRecord) => ({ ...record, expiresAt: startOfTime }), 'Expired'],
    [
      'its budget is spent',
      (record: StateRecord) => ({ ...record, budget: { allowed: 3, spent: 0 } }),
      'BudgetExhausted',
    ],
    [
      'the workflow has no such step',
      (record: StateRecord) => ({ ...record, steps: record.steps.map((step) => ({ ...step, id: 'gone' })) }),
      'UnknownStep',
    ],
  ])('gives the order up when %s, and counts no failure: no step was dispatched', (_name, change, code) => {
    const record = advanced(change(claimed()));
    expect(record).toMatchObject({ processState: 'Error', failureCount: 0, error: { code }, completeBy: null });
  });
});

describe('an advance with a reply', () => {
  it('records the success and starts the next step in one write (A1, R14)', () => {
    const record = advanced(running(), { outcome: 'succeeded' }, later(100));
    expect(statesOf(record)).toEqual(['Completed', 'Running', 'NotStarted']);
    expect(record.steps[0]).toMatchObject({ endedAt: later(100), result: { reference: 'payment-reference' } });
    expect(record.completeBy).toBe(later(100 + stepDeadlineMs));
    expect(record.compensation.map(({ stepId }) => stepId)).toEqual(['payment', 'inventory']);
  });

  it('changes nothing when it is repeated after the next step has started (A3, I2, T34)', () => {
    const before = running();
    const reply = replyTo(before, 'succeeded');
    const record = apply(before, advance, advanceInput(before, reply));
    expect(advance.decide(record, advanceInput(record, reply), later(50))).toEqual({ kind: 'alreadyDone' });
  });

  it('finishes the order after the last step: status, deadline cleared, owner kept (T34)', () => {
    const record = processedRecord();
    expect(record).toMatchObject({ processState: 'Processed', lockedBy: 'A-1.1', completeBy: null, error: null });
    expect(statesOf(record)).toEqual(['Completed', 'Completed', 'Completed']);
    expect(record.outbox.map(({ kind }) => kind)).toEqual(['OrderReceived', 'OrderCompleted']);
  });

  it('is recognised after the order has finished (T34)', () => {
    const record = processedRecord();
    const reply = { stepId: 'shipping', requestId: 'A-1.1.shipping', outcome: 'succeeded' } as const;
    expect(advance.decide(record, advanceInput(record, reply), startOfTime)).toEqual({ kind: 'alreadyDone' });
  });

  it.each([
    ['a request of an earlier attempt', { stepId: 'payment', requestId: 'A-1.0.payment' }],
    ['a step that has not started', { stepId: 'shipping', requestId: 'A-1.1.shipping' }],
    ['a step that nobody knows', { stepId: 'gone', requestId: 'A-1.1.gone' }],
  ])('is refused when it belongs to %s (T16, C3)', (_name, ids) => {
    const record = running();
    const input = advanceInput(record, { ...ids, outcome: 'succeeded' });
    expect(advance.decide(record, input, startOfTime)).toEqual({ kind: 'refused', reason: 'foreignOutcome' });
  });

  it('ends in Error when the agent reports an unrecoverable fault, with status and cause (R102)', () => {
    const record = failedRecord();
    expect(record).toMatchObject({
      processState: 'Error',
      failureCount: 1,
      lockedBy: 'A-1.1',
      completeBy: null,
      error: { code: 'Closed', stepId: 'payment' },
    });
    expect(record.steps[0]?.state).toBe('Failed');
    expect(record.outbox.at(-1)).toMatchObject({ kind: 'OrderFailed', reason: { code: 'Failed' } });
  });
});

describe('a refusal', () => {
  it('with nothing done before ends the order at once (R1)', () => {
    const record = advanced(running(), replyTo(running(), 'refused'));
    expect(record).toMatchObject({ processState: 'Compensated', completeBy: null, error: { code: 'Declined' } });
    expect(record.compensation[0]?.state).toBe('Skipped');
    expect(record.outbox.at(-1)).toMatchObject({ kind: 'OrderFailed', reason: { code: 'Refused' } });
  });

  it('lets what was done be undone by a new attempt, with the time of a new order, and keeps the cause (T75, R20)', () => {
    const record = compensatingRecord();
    expect(record).toMatchObject({
      processState: 'Compensating',
      lockedBy: null,
      completeBy: null,
      notBefore: startOfTime,
      expiresAt: later(orderLifetimeMs),
      error: { code: 'Declined', stepId: 'inventory' },
    });
    expect(record.compensation.map(({ stepId, state }) => [stepId, state])).toEqual([
      ['payment', 'Recorded'],
      ['inventory', 'Skipped'],
    ]);
    expect(record.outbox.map(({ kind }) => kind)).toEqual(['OrderReceived']);
  });

  it('does not prove that an earlier request of unknown outcome did nothing: it is undone too (U1, T71, T23)', () => {
    const second = secondAttempt(running());
    const record = advanced(second, replyTo(second, 'refused'));
    expect(record.processState).toBe('Compensating');
    expect(record.compensation[0]).toMatchObject({ state: 'Recorded', uncertain: true });
  });
});

describe('an uncertain answer', () => {
  const uncertain = (outcome: 'refused' | 'failed' | 'deferred'): StateRecord => {
    const record = running();
    return advanced(record, { ...replyTo(record, outcome), uncertain: true });
  };

  it('that refuses does not prove that nothing was done: the step is undone, and the order is refused (A4, T71)', () => {
    const record = uncertain('refused');
    expect(record.processState).toBe('Compensating');
    expect(record.steps[0]?.state).toBe('Refused');
    expect(record.compensation[0]).toMatchObject({ state: 'Recorded', uncertain: true });
  });

  it('that fails leaves the step to be undone (A4)', () => {
    expect(uncertain('failed').compensation[0]).toMatchObject({ state: 'Recorded' });
  });

  it('that defers keeps the step marked, so that a later refusal has it undone too (A4)', () => {
    const again = advanced(claimed({ ...uncertain('deferred'), notBefore: startOfTime }));
    const record = advanced(again, replyTo(again, 'refused'));
    expect(record.processState).toBe('Compensating');
    expect(record.compensation).toMatchObject([{ state: 'Recorded', uncertain: true }]);
  });
});

describe('a second attempt', () => {
  it('keeps what is completed and repeats only the step that was lost (T84, R103)', () => {
    const record = secondAttempt(advanced(running(), { outcome: 'succeeded' }));
    expect(statesOf(record)).toEqual(['Completed', 'Running', 'NotStarted']);
    expect(record.steps[1]?.requestId).toBe('A-1.2.inventory');
    expect(record.compensation).toHaveLength(2);
  });
});

describe('a deferral', () => {
  const deferred = (retryAfterMs?: number): StateRecord =>
    advanced(running(), { outcome: 'deferred', result: undefined, retryAfterMs });

  it('lets the order wait for another attempt without counting a failure (T67)', () => {
    expect(deferred(7_000)).toMatchObject({
      processState: 'Pending',
      lockedBy: null,
      completeBy: null,
      notBefore: later(7_000),
      failureCount: 0,
    });
    expect(deferred().notBefore).toBe(later(deferral.backoffMs));
  });

  it('makes the next wait longer each time, up to the longest, and keeps what the agent asks for (T10)', () => {
    let record = aRecord();
    const waits: number[] = [];
    for (let count = 0; count < 9; count += 1) {
      const waiting = claimed({ ...record, notBefore: startOfTime });
      record = advanced(advanced(waiting), { outcome: 'deferred', result: undefined, retryAfterMs: 3_000 });
      waits.push(msBetween(startOfTime, record.notBefore));
    }
    expect(waits).toEqual([3_000, 3_000, 3_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    expect(record.steps[0]?.deferrals).toBe(9);
  });

  it('spreads the orders that were deferred together (T10)', () => {
    const record = running();
    const reply = { ...replyTo(record, 'succeeded'), outcome: 'deferred', retryAfterMs: 7_000 } as const;
    const input = { ...advanceInput(record, reply), deferral: { ...deferral, jitter: 0.5 } };
    expect(apply(record, advance, input).notBefore).toBe(later(7_250));
  });

  it('gives back the calls that its dispatch had taken, and no more (R50, T67)', () => {
    const second = advanced(running(), { outcome: 'succeeded' });
    const record = advanced(second, { outcome: 'deferred', result: undefined });
    expect(record.budget.spent).toBe(running().budget.spent);
  });

  it('proves that its request has done nothing: a later refusal is believed (A4)', () => {
    const again = advanced(claimed({ ...deferred(), notBefore: startOfTime }));
    expect(again.compensation).toMatchObject([{ seq: 1, stepId: 'payment', uncertain: false }]);
    expect(advanced(again, replyTo(again, 'refused'))).toMatchObject({
      processState: 'Compensated',
      compensation: [{ state: 'Skipped' }],
    });
  });

  it('proves nothing of an earlier request of unknown outcome (U1, A4)', () => {
    const second = secondAttempt(running());
    const waiting = advanced(second, { outcome: 'deferred', result: undefined });
    expect(waiting.compensation).toMatchObject([{ state: 'Recorded', uncertain: true }]);
    const third = advanced(claimed({ ...waiting, notBefore: startOfTime }));
    expect(advanced(third, replyTo(third, 'refused')).processState).toBe('Compensating');
  });

  it('is bounded by the lifetime of the order (T68)', () => {
    const record = advanced({ ...running(), expiresAt: later(7_000) }, { outcome: 'deferred', retryAfterMs: 7_000 });
    expect(record).toMatchObject({ processState: 'Error', error: { code: 'Expired' } });
  });
});

describe('fail', () => {
  const input = { instanceId: 'A-1.1', code: 'OrderMissing', message: 'the orders database has no A-1' };

  it('ends the order in Error with the cause (T42)', () => {
    expect(apply(running(), fail, input)).toMatchObject({
      processState: 'Error',
      failureCount: 1,
      error: { code: 'OrderMissing' },
      completeBy: null,
    });
  });

  it('ends an undo in CompensationFailed (R46)', () => {
    const undoing = claimed(compensatingRecord());
    expect(apply(undoing, fail, { ...input, instanceId: 'A-1.2' }).processState).toBe('CompensationFailed');
  });

  it('is recognised when it is repeated, and refused to a superseded attempt (I1, I2)', () => {
    expect(fail.decide(failedRecord(), input, startOfTime)).toEqual({ kind: 'alreadyDone' });
    expect(fail.decide(running(), { ...input, instanceId: 'A-1.9' }, startOfTime).kind).toBe('refused');
  });
});
