import { describe, expect, it } from 'vitest';
import { maxReplyMessageLength, parseAgentReply } from '../../functions/contracts/agent-reply.js';

const reply = {
  schemaVersion: 1,
  requestId: 'A-1.1.payment',
  replyToken: '3f0e8a52-9c5b-5d3a-9a53-0b6c4e8f1a11',
  orderId: 'A-1',
  attempt: 1,
  stepId: 'payment',
  outcome: 'succeeded',
  result: { reference: 'charge-1' },
};

function reasonOf(body: unknown): string {
  const parsed = parseAgentReply(body);
  return parsed.ok ? 'taken' : parsed.rejection.reason;
}

describe('parseAgentReply', () => {
  it('takes a good reply', () => {
    expect(parseAgentReply(JSON.stringify(reply))).toEqual({ ok: true, value: reply });
  });

  it.each(['succeeded', 'refused', 'failed'])('takes the outcome %s', (outcome) => {
    expect(reasonOf({ ...reply, outcome })).toBe('taken');
  });

  // C4: no part of the message that does not fit our grammar gets further
  it.each([
    { orderId: 'OTHER-1/terminate?reason=x#' },
    { orderId: '../orchestrators/X' },
    { orderId: 'A-4-1?taskHub=y' },
    { attempt: 0 },
    { attempt: 1.5 },
    { attempt: '1' },
    { stepId: '../raise' },
    { replyToken: 'guess' },
    { outcome: 'Succeeded' },
    { requestId: 'A-1.2.payment' },
    { requestId: 'B-1.1.payment' },
    { requestId: undefined },
  ])('refuses %j', (wrong) => {
    expect(reasonOf({ ...reply, ...wrong })).toBe('InvalidReply');
  });

  it('refuses a body without a JSON object, and an unknown version (C17, T81)', () => {
    expect(reasonOf('{bad')).toBe('InvalidMessage');
    expect(reasonOf({ ...reply, schemaVersion: 99 })).toBe('UnsupportedSchemaVersion');
  });

  // T27, C37
  it.each([
    { result: { reference: 'x'.repeat(257) } },
    { result: Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`field${index}`, index])) },
    { result: { nested: { deep: 1 } } },
    { result: { ['k'.repeat(65)]: 1 } },
    { error: { code: 'no code', message: '' } },
    { error: { code: 'C'.repeat(65), message: '' } },
  ])('refuses a result or code that is no small thing', (wrong) => {
    expect(reasonOf({ ...reply, ...wrong })).toBe('InvalidReply');
  });

  it('cuts a long error message (T27)', () => {
    const long = { ...reply, outcome: 'refused', error: { code: 'Declined', message: 'm'.repeat(10_000) } };
    const parsed = parseAgentReply(long);
    expect(parsed.ok && parsed.value.error?.message).toHaveLength(maxReplyMessageLength);
  });
});
