import { describe, expect, it } from 'vitest';
import {
  agentRequestId,
  applicationSchema,
  idempotencyKey,
  orchestrationInstanceId,
  orderIdSchema,
  orderMessageId,
  replyEventName,
  statusMessageId,
  statusQueueName,
  stepIdSchema,
  undoIdempotencyKey,
} from '../../functions/contracts/identifiers.js';

const longestOrderId = 'x'.repeat(64);

describe('an order id', () => {
  it.each(['A-1', '007', 'a', longestOrderId, 'order_17', '4603086877212508601'])('%s is taken (C21)', (orderId) => {
    expect(orderIdSchema.parse(orderId)).toBe(orderId);
  });

  // C5, C27, T18, T31, T32
  it.each([
    ...[
      '',
      ' ',
      '-A',
      '_A',
      '.',
      '..',
      'A.1',
      'A#1',
      'A?b',
      'a/b',
      'a\\b',
      'a%2Fb',
      'A:1',
      'A 1',
      'A\n',
      '@A',
      'é',
      '注文',
    ],
    ...['x'.repeat(65), 'x'.repeat(90), 'x'.repeat(101), 'x'.repeat(256), 'x'.repeat(1024), '注'.repeat(100)],
  ])('%j breaks the grammar', (orderId) => {
    expect(orderIdSchema.safeParse(orderId).success).toBe(false);
  });

  it.each([7, null, undefined, true, ['A'], { id: 'A' }])('%j is no text (C21)', (orderId) => {
    expect(orderIdSchema.safeParse(orderId).success).toBe(false);
  });
});

describe('an application name', () => {
  it.each(['web-shop', 'a', '7', 'x'.repeat(40)])('%s is taken', (application) => {
    expect(applicationSchema.parse(application)).toBe(application);
  });

  it.each(['', '-x', 'Web', '../x', 'orders/x', 'a_b', 'x'.repeat(41)])('%j is refused (T56, C24)', (application) => {
    expect(applicationSchema.safeParse(application).success).toBe(false);
  });
});

it('a step id is short and lower-case', () => {
  expect(stepIdSchema.parse('payment')).toBe('payment');
  expect(stepIdSchema.safeParse('Payment').success).toBe(false);
  expect(stepIdSchema.safeParse('p'.repeat(25)).success).toBe(false);
});

describe('derived identifiers', () => {
  it('tell the attempts apart where broker and runtime must (ID1, T28, C1, R85)', () => {
    expect(orchestrationInstanceId('A-1', 2)).toBe('A-1.2');
    expect(agentRequestId('A-1', 2, 'payment')).toBe('A-1.2.payment');
    expect(agentRequestId('A-1', 1, 'payment')).not.toBe(agentRequestId('A-1', 2, 'payment'));
  });

  it('are the same in every attempt where the remote service must recognise them (ID2, T28, R23)', () => {
    expect(idempotencyKey('A-1', 'payment')).toBe('A-1.payment');
    expect(undoIdempotencyKey('A-1', 'payment')).toBe('A-1.payment.undo');
  });

  it('number the keys of an operator’s further tries from the second generation on (R103)', () => {
    expect(idempotencyKey('A-1', 'payment', 1)).toBe('A-1.payment');
    expect(idempotencyKey('A-1', 'payment', 2)).toBe('A-1.payment.r2');
    expect(undoIdempotencyKey('A-1', 'payment', 3)).toBe('A-1.payment.undo.r3');
  });

  it('give each step an event name of its own, in one spelling (T16, T17, C3)', () => {
    expect(replyEventName('payment')).toBe('reply.payment');
    expect(replyEventName('payment')).not.toBe(replyEventName('shipping'));
  });

  it('give each status of an order an id of its own (C1)', () => {
    expect(statusMessageId('A-1', 1)).toBe('A-1.1');
    expect(statusMessageId('A-1', 2)).toBe('A-1.2');
    expect(statusQueueName('web-shop')).toBe('status-web-shop');
  });

  it('give a conflicting resend another message id, and a repeat the same', () => {
    const hash = 'abcdef0123456789';
    expect(orderMessageId('A-1', hash)).toBe('A-1.abcdef012345');
    expect(orderMessageId('A-1', hash)).not.toBe(orderMessageId('A-1', 'ffffff0123456789'));
  });

  // ID3, C27, T32: 100 characters for an instance id, 128 for a MessageId
  it('stay within the limits of runtime and broker for the longest order id and attempt', () => {
    const attempt = 999_999_999;
    expect(orchestrationInstanceId(longestOrderId, attempt).length).toBeLessThanOrEqual(100);
    const requestId = agentRequestId(longestOrderId, attempt, 's'.repeat(24));
    expect(`${requestId}.expired`.length).toBeLessThanOrEqual(128);
    expect(orderMessageId(longestOrderId, 'f'.repeat(64)).length).toBeLessThanOrEqual(128);
  });

  it('survive an address that does not encode them (ID3, C4, T18, V1)', () => {
    const path = `/instances/${orchestrationInstanceId(longestOrderId, 12)}/raiseEvent/${replyEventName('payment')}`;
    expect(new URL(path, 'http://127.0.0.1').pathname).toBe(path);
  });
});
