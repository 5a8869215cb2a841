import { describe, expect, it } from 'vitest';
import { statusMessageSchema } from '../../functions/contracts/status-message.js';
import { busy, sendOutbox, sendRejected } from '../../functions/status/report-status.js';
import {
  aRecord,
  advanced,
  claimed,
  compensatingRecord,
  failedRecord,
  processedRecord,
  replyTo,
} from '../support/builders.js';
import { startOfTime } from '../support/manual-clock.js';
import { createRecordingSender } from '../support/recording.js';

describe('sendOutbox', () => {
  it('sends each waiting status to the application’s own queue, in order, and answers which (R114, R115, R116)', async () => {
    const sender = createRecordingSender();
    expect(await sendOutbox(processedRecord(), sender)).toEqual({ sent: [1, 2], isBlocked: false });
    expect(sender.sent).toEqual([
      expect.objectContaining({
        queue: 'status-web-shop',
        messageId: 'A-1.1',
        correlationId: 'A-1',
        body: { schemaVersion: 1, orderId: 'A-1', seq: 1, status: 'OrderReceived', at: startOfTime },
      }),
      expect.objectContaining({
        messageId: 'A-1.2',
        body: { schemaVersion: 1, orderId: 'A-1', seq: 2, status: 'OrderCompleted', at: startOfTime },
      }),
    ]);
  });

  it('sends what the contract says and nothing internal (T58, R117)', async () => {
    const undoing = advanced(claimed(compensatingRecord()));
    for (const record of [failedRecord(), processedRecord(), advanced(undoing, replyTo(undoing, 'failed'))]) {
      const sender = createRecordingSender();
      await sendOutbox(record, sender);
      for (const { body } of sender.sent) {
        expect(statusMessageSchema.strict().safeParse(body).success).toBe(true);
        expect(JSON.stringify(body)).not.toMatch(/A-1\.\d|lockedBy|Closed|for a reason/);
      }
    }
  });

  it('stops at the first status that can’t be sent, so that none overtakes another (T54)', async () => {
    const sender = createRecordingSender();
    sender.fail('transient');
    expect(await sendOutbox(processedRecord(), sender)).toEqual({ sent: [], isBlocked: true });
  });

  it('carries the trace of the order, if it has one (C97)', async () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const sender = createRecordingSender();
    await sendOutbox({ ...aRecord(), traceparent }, sender);
    await sendOutbox({ ...aRecord(), traceparent: null }, sender);
    expect(sender.sent.map(({ applicationProperties }) => applicationProperties)).toEqual([
      { 'Diagnostic-Id': traceparent },
      undefined,
    ]);
  });

  it('sends nothing when nothing waits', async () => {
    const sender = createRecordingSender();
    expect(await sendOutbox({ ...aRecord(), outbox: [] }, sender)).toEqual({ sent: [], isBlocked: false });
    expect(sender.sent).toEqual([]);
  });
});

describe('distinct public reasons (T77)', () => {
  it.each([
    ['Failed', failedRecord()],
    ['Refused', advanced(advanced(claimed()), replyTo(advanced(claimed()), 'refused'))],
  ])('tell an application that its order ended as %s', async (code, record) => {
    const sender = createRecordingSender();
    await sendOutbox(record, sender);
    expect(sender.sent.at(-1)?.body).toMatchObject({ status: 'OrderFailed', reason: { code } });
  });
});

describe('sendRejected', () => {
  it('turns an order away in the form of the contract, with when to come again (R51, T52)', async () => {
    const sender = createRecordingSender();
    await sendRejected({ orderId: 'A-1', application: 'web-shop', at: startOfTime }, 'message-1', busy(30_000), sender);
    const [message] = sender.queued('status-web-shop');
    expect(statusMessageSchema.parse(message?.body)).toMatchObject({
      status: 'OrderRejected',
      reason: { code: 'Busy' },
      retryAfterMs: 30_000,
    });
  });

  it('is not swallowed when the same order is turned away again (C1)', async () => {
    const sender = createRecordingSender();
    for (const resend of ['message-1', 'message-2']) {
      await sendRejected({ orderId: 'A-1', application: 'web-shop', at: startOfTime }, resend, busy(30_000), sender);
    }
    expect(sender.queued('status-web-shop')).toHaveLength(2);
  });
});
