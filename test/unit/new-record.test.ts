import { describe, expect, it } from 'vitest';
import { addMs } from '../../functions/contracts/timestamp.js';
import { newRecord } from '../../functions/state/new-record.js';
import { stateRecordSchema } from '../../functions/state/state-record.js';
import { anOrder, workflowV1 } from '../support/builders.js';
import { startOfTime } from '../support/manual-clock.js';

const input = {
  order: anOrder({ orderId: 'A-25', priority: 'high', ttl: 1, processState: 'Processed', lockedBy: 'x', _etag: 'y' }),
  orderHash: 'hash',
  workflow: workflowV1,
  maxAttempts: 3,
  orderLifetimeMs: 60_000,
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
};

describe('a new record', () => {
  const record = newRecord(input, startOfTime);

  it('waits for its first attempt, unowned, with no failure (R76–R80, R10)', () => {
    expect(record).toMatchObject({
      id: 'A-25',
      orderId: 'A-25',
      application: 'web-shop',
      priority: 'high',
      processState: 'Pending',
      attempt: 0,
      failureCount: 0,
      compensationFailureCount: 0,
      notBefore: startOfTime,
      expiresAt: addMs(startOfTime, 60_000),
      budget: { allowed: 30, spent: 0 },
      workflowVersion: 1,
    });
    expect(record.steps.map(({ id, state }) => [id, state])).toEqual([
      ['payment', 'NotStarted'],
      ['inventory', 'NotStarted'],
      ['shipping', 'NotStarted'],
    ]);
  });

  it('writes null as null, so that the queries find it (T8, C12)', () => {
    const stored = JSON.parse(JSON.stringify(record)) as Record<string, unknown>;
    for (const field of ['lockedBy', 'completeBy', 'error']) expect(stored[field]).toBeNull();
    expect(stateRecordSchema.parse(stored)).toEqual(record);
  });

  it('has the status *received* in its outbox (R116, T53)', () => {
    expect(record.outbox).toEqual([{ seq: 1, kind: 'OrderReceived', at: startOfTime, reason: null }]);
    expect(record).toMatchObject({ outboxSeq: 1, outboxSince: startOfTime });
  });

  it('takes no field of ours from the message (C25)', () => {
    expect(record).not.toHaveProperty('ttl');
    expect(record).not.toHaveProperty('_etag');
  });

  it('holds no detail of the order: no address, no payment token (R47, T78)', () => {
    expect(JSON.stringify(record)).not.toMatch(/tok_ok|Main Street|KETTLE|customer-7/);
  });

  it('keeps the sender’s trace context', () => {
    expect(record.traceparent).toBe(input.traceparent);
  });
});
