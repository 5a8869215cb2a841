import { describe, expect, it } from 'vitest';
import { nextAction } from '../../functions/state/next-action.js';
import type { StateRecord } from '../../functions/state/state-record.js';
import { aRecord, advanced, claimed, compensatingRecord, failedRecord, processedRecord } from '../support/builders.js';

describe('nextAction', () => {
  it('dispatches the running step under the key that is the same in every attempt (T28, R23)', () => {
    const record = advanced(claimed());
    expect(nextAction(record)).toEqual({
      kind: 'dispatch',
      stepId: 'payment',
      action: 'do',
      requestId: 'A-1.1.payment',
      completeBy: record.completeBy,
      idempotencyKey: 'A-1.payment',
      failures: 0,
    });
  });

  it('dispatches the running undo under a key of its own', () => {
    const record = advanced(claimed(compensatingRecord()));
    expect(nextAction(record)).toMatchObject({
      kind: 'dispatch',
      action: 'undo',
      requestId: 'A-1.2.payment',
      idempotencyKey: 'A-1.payment.undo',
    });
  });

  it.each<[string, StateRecord]>([
    ['nothing runs yet', claimed()],
    ['nobody owns the order', aRecord()],
    ['the order waits for its undo', compensatingRecord()],
    ['the order is processed', processedRecord()],
    ['the order is in Error', failedRecord()],
  ])('is over when %s', (_name, record) => {
    expect(nextAction(record)).toEqual({ kind: 'ended', processState: record.processState });
  });

  it('is over for a step that an earlier attempt has left running: the new one has not advanced yet (T40)', () => {
    const waiting = { ...advanced(claimed()), processState: 'Pending', lockedBy: null } as const;
    expect(nextAction(claimed(waiting))).toEqual({ kind: 'ended', processState: 'Processing' });
  });
});
