import { describe, expect, it } from 'vitest';
import { orderRecordSchema } from '../../cli/orders/order-record.js';
import { viewRecord } from '../../cli/orders/record-view.js';
import { withoutColour } from '../../cli/terminal/paint.js';
import { advanced, aRecord, claimed } from '../support/builders.js';
import { orderRecord } from '../support/cli-record.js';

const view = { width: Infinity, paint: withoutColour };

function viewed(record: unknown): string {
  return viewRecord(orderRecordSchema.parse(record), view).join('\n');
}

describe('the view of a record', () => {
  it('shows who owns the order, its budget, steps and history', () => {
    const text = viewed(claimed(aRecord({ orderId: 'a-1' })));
    expect(text).toMatch(/^a-1 {2}Processing\n/);
    expect(text).toContain('attempt          1, failed 0');
    expect(text).toMatch(/owned by {9}a-1\.1, complete by \d{4}-/);
    expect(text).toMatch(/retry budget {5}spent 0 of \d+ calls/);
    expect(text).toMatch(
      /Steps\n.*\n {2}payment {4}NotStarted\n {2}inventory {2}NotStarted\n {2}shipping {3}NotStarted/,
    );
    expect(text).toMatch(/starter +Pending → Processing +attempt 1 claimed/);
  });

  it('shows since when and how long an order waits', () => {
    const text = viewed(aRecord());
    expect(text).toContain('owned by         nobody');
    expect(text).toMatch(/waits until {6}\d{4}-/);
    expect(text).toContain('Status messages that wait to be sent');
  });

  it('shows the error and the compensation log', () => {
    const error = { code: 'Declined', message: 'no', stepId: 'payment' };
    const compensation = [{ seq: 1, stepId: 'payment', action: 'refund', key: 'a.payment', state: 'Failed' }];
    const text = viewed(
      orderRecord({ processState: 'CompensationFailed', compensationFailureCount: 2, error, compensation }),
    );
    expect(text).toContain('error            Declined: no (step payment)');
    expect(text).toContain('failed 0, undo failed 2');
    expect(text).toMatch(/1 {2}payment {2}refund {2}Failed {2}a\.payment/);
    expect(text).not.toContain('waits until');
  });

  it('shows at which step, and at which undo, attempts have failed (R32)', () => {
    const record = advanced(claimed());
    const steps = record.steps.map((step) => ({ ...step, failureCount: step.id === 'payment' ? 2 : 0 }));
    const compensation = record.compensation.map((entry) => ({ ...entry, failureCount: 1 }));
    const text = viewed({ ...record, steps, compensation, failureCount: 2 });
    expect(text).toMatch(/payment {4}Running .* failed 2×\n {2}inventory {2}NotStarted *\n/);
    expect(text).toMatch(/refund {2}Recorded {2}A-1\.payment, failed 1×/);
  });

  it('shows how long a step took and what it left', () => {
    const step = {
      id: 'payment',
      state: 'Completed',
      completeBy: null,
      error: null,
      result: { reference: 'p-1', parcels: 2 },
    };
    const times = { startedAt: '2030-01-01T00:00:00.000Z', endedAt: '2030-01-01T00:00:01.250Z' };
    expect(viewed(orderRecord({ steps: [{ ...step, ...times }] }))).toMatch(
      /payment {2}Completed {2}00:00:00\.000 {2}1250 ms {2}reference p-1, parcels 2/,
    );
  });
});
