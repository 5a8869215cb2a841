import { describe, expect, it } from 'vitest';
import { addMs } from '../../functions/contracts/timestamp.js';
import type { StateRecord } from '../../functions/state/state-record.js';
import { advanced, claimed, orderLifetimeMs, replyTo, undoWorkflow } from '../support/builders.js';
import { startOfTime } from '../support/manual-clock.js';

const later = (ms: number): string => addMs(startOfTime, ms);

describe('an order that cannot be finished, if its workflow undoes it then (R20, R36)', () => {
  const undoRunning = (fields: Partial<StateRecord> = {}): StateRecord =>
    advanced({ ...claimed(), workflowVersion: undoWorkflow.version, ...fields });

  it('is undone by its next attempt after an unrecoverable fault', () => {
    const record = undoRunning();
    const failed = advanced(record, replyTo(record, 'failed'));
    expect(failed).toMatchObject({
      processState: 'Compensating',
      lockedBy: null,
      failureCount: 1,
      error: { code: 'Closed', stepId: 'payment' },
      expiresAt: later(orderLifetimeMs),
    });
    expect(failed.compensation[0]?.state).toBe('Recorded');
    expect(failed.outbox.map(({ kind }) => kind)).toEqual(['OrderReceived']);
  });

  it.each([
    ['its lifetime is over', { expiresAt: startOfTime }, 'Expired'],
    ['its budget is spent', { budget: { allowed: 3, spent: 0 } }, 'BudgetExhausted'],
  ])('ends undone when %s before it has done anything', (_name, fields, code) => {
    const record = undoRunning(fields);
    expect(record).toMatchObject({ processState: 'Compensated', error: { code } });
    expect(record.outbox.at(-1)).toMatchObject({ kind: 'OrderFailed', reason: { code: 'Undone' } });
  });

  it('is undone when a deferral would outlive it', () => {
    const record = undoRunning({ expiresAt: later(7_000) });
    const deferred = advanced(record, { outcome: 'deferred', retryAfterMs: 7_000 });
    expect(deferred).toMatchObject({ processState: 'Compensating', error: { code: 'Expired' } });
  });

  it('goes to an operator when only a newer build knows its step', () => {
    const steps = claimed().steps.map((step) => ({ ...step, id: 'gone' }));
    expect(undoRunning({ steps })).toMatchObject({ processState: 'Error', error: { code: 'UnknownStep' } });
  });
});
