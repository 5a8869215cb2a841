import { describe, expect, it } from 'vitest';
import { parseAgentRequest } from '../../functions/contracts/agent-request.js';

const request = {
  schemaVersion: 1,
  requestId: 'A-1.2.payment',
  orderId: 'A-1',
  attempt: 2,
  stepId: 'payment',
  action: 'do',
  completeBy: '2026-01-05T09:00:04.000Z',
  callAllowance: 2,
  idempotencyKey: 'A-1.payment',
  fencingToken: 2,
  replyToken: '3f0e8a52-9c5b-5d3a-9a53-0b6c4e8f1a11',
  payload: { amountMinor: 3998 },
  traceparent: null,
};

function reasonOf(body: unknown): string {
  const parsed = parseAgentRequest(body);
  return parsed.ok ? 'taken' : parsed.rejection.reason;
}

describe('parseAgentRequest', () => {
  it('takes a good request with its deadline and allowance (R13)', () => {
    expect(parseAgentRequest(Buffer.from(JSON.stringify(request)))).toEqual({ ok: true, value: request });
  });

  it.each([
    { completeBy: '2026-01-05T09:00:04Z' },
    { callAllowance: 0 },
    { fencingToken: 0 },
    { action: 'redo' },
    { payload: null },
    { traceparent: undefined },
    { requestId: 'A-1.1.payment' },
  ])('refuses %j', (wrong) => {
    expect(reasonOf({ ...request, ...wrong })).toBe('InvalidRequest');
  });

  it('refuses a body without a JSON object, and an unknown version (C17, T81)', () => {
    expect(reasonOf(42)).toBe('InvalidMessage');
    expect(reasonOf({ ...request, schemaVersion: 2 })).toBe('UnsupportedSchemaVersion');
  });
});
