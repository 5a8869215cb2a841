import { describe, expect, it } from 'vitest';
import { addMs } from '../../functions/contracts/timestamp.js';
import type { StateRecord } from '../../functions/state/state-record.js';
import { advance } from '../../functions/state/step-transitions.js';
import {
  advanced,
  advanceInput,
  apply,
  claimed,
  compensatingRecord,
  replyTo,
  stepDeadlineMs,
  workflowV1,
} from '../support/builders.js';
import { startOfTime } from '../support/manual-clock.js';

/** Payment and inventory are done, shipping was refused: two undos wait. */
function twoToUndo(): StateRecord {
  const shipped = advanced(advanced(advanced(claimed()), {}), {});
  return advanced(shipped, replyTo(shipped, 'refused'));
}

const undoing = (): StateRecord => advanced(claimed(twoToUndo()));
const entriesOf = (record: StateRecord): string[] =>
  record.compensation.map(({ stepId, state }) => `${stepId} ${state}`);

describe('an undo', () => {
  it('begins with the newest entry of the log, under the new attempt (R44, T75)', () => {
    const record = undoing();
    expect(entriesOf(record)).toEqual(['payment Recorded', 'inventory Running', 'shipping Skipped']);
    expect(record.compensation[1]?.requestId).toBe('A-1.2.inventory');
    expect(record.completeBy).toBe(addMs(startOfTime, stepDeadlineMs));
  });

  it('may take as long as its step may', () => {
    const steps = workflowV1.steps.map((step) => ({ ...step, deadlineShare: 3 }));
    const record = claimed(twoToUndo());
    const input = { ...advanceInput(record), workflow: { ...workflowV1, steps } };
    expect(apply(record, advance, input).completeBy).toBe(addMs(startOfTime, 3 * stepDeadlineMs));
  });

  it('goes on in reverse order and ends Compensated with a status (R43, R44, R46)', () => {
    const second = advanced(undoing(), {});
    expect(entriesOf(second)).toEqual(['payment Running', 'inventory Done', 'shipping Skipped']);
    const record = advanced(second, {});
    expect(record).toMatchObject({
      processState: 'Compensated',
      completeBy: null,
      lockedBy: 'A-1.2',
      error: { code: 'Declined', stepId: 'shipping' },
    });
    expect(entriesOf(record)).toEqual(['payment Done', 'inventory Done', 'shipping Skipped']);
    expect(record.outbox.at(-1)).toMatchObject({ kind: 'OrderFailed', reason: { code: 'Refused' } });
  });

  it('changes nothing when its advance is repeated, first or with the reply (A3, I2)', () => {
    const first = undoing();
    expect(advance.decide(first, advanceInput(first), startOfTime)).toEqual({ kind: 'alreadyDone' });
    const reply = replyTo(first, 'succeeded');
    const second = apply(first, advance, advanceInput(first, reply));
    expect(advance.decide(second, advanceInput(second, reply), startOfTime)).toEqual({ kind: 'alreadyDone' });
  });

  it('ignores the outcome of a request of another attempt', () => {
    const record = undoing();
    const input = advanceInput(record, { stepId: 'inventory', requestId: 'A-1.1.inventory', outcome: 'failed' });
    expect(advance.decide(record, input, startOfTime)).toEqual({ kind: 'refused', reason: 'foreignOutcome' });
  });

  // C51, T76
  it.each(['failed', 'refused'] as const)('that is %s does not keep the others from being undone (U2)', (outcome) => {
    const second = advanced(undoing(), replyTo(undoing(), outcome));
    expect(entriesOf(second)).toEqual(['payment Running', 'inventory Failed', 'shipping Skipped']);
    expect(second.compensation[1]).toMatchObject({ error: replyTo(undoing(), outcome).error });
    const record = advanced(second, {});
    expect(record).toMatchObject({
      processState: 'CompensationFailed',
      error: { code: 'UndoFailed' },
      completeBy: null,
    });
    expect(record.error?.message).toContain('inventory');
    expect(record.outbox.at(-1)).toMatchObject({ kind: 'OrderFailed', reason: { code: 'UndoIncomplete' } });
  });

  it('that was lost is repeated by the next attempt with a request of its own (T74, C51)', () => {
    const lost = { ...undoing(), lockedBy: null };
    const record = advanced(claimed(lost));
    expect(entriesOf(record)).toEqual(['payment Recorded', 'inventory Running', 'shipping Skipped']);
    expect(record.compensation[1]?.requestId).toBe('A-1.3.inventory');
  });

  it('that is deferred is repeated later, and no failure is counted (T67)', () => {
    const record = advanced(undoing(), { outcome: 'deferred', retryAfterMs: 9_000 });
    expect(record).toMatchObject({
      processState: 'Compensating',
      lockedBy: null,
      notBefore: addMs(startOfTime, 9_000),
      compensationFailureCount: 0,
    });
    expect(entriesOf(record)[1]).toBe('inventory Recorded');
  });

  it('that is deferred beyond the lifetime of the order counts as failed, and the others go on (T67, T68, U2)', () => {
    const before = { ...undoing(), expiresAt: addMs(startOfTime, 9_000) };
    const record = advanced(before, { outcome: 'deferred', retryAfterMs: 9_000 });
    expect(record.processState).toBe('Compensating');
    expect(entriesOf(record)).toEqual(['payment Running', 'inventory Failed', 'shipping Skipped']);
    expect(record.compensation[1]).toMatchObject({ error: { code: 'UndoExpired' } });
  });

  it('takes back a step whose outcome is unknown, too (U1, T71)', () => {
    const lost = { ...advanced(claimed()), processState: 'Error', lockedBy: null } as const;
    const record = advanced(claimed({ ...lost, processState: 'Compensating' }));
    expect(entriesOf(record)).toEqual(['payment Running']);
  });
});

it('an order with nothing to undo is Compensated at once', () => {
  const record = claimed({ ...compensatingRecord(), compensation: [] });
  expect(advanced(record).processState).toBe('Compensated');
});
