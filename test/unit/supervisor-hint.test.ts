import { describe, expect, it } from 'vitest';
import { parseSupervisorHint } from '../../functions/contracts/supervisor-hint.js';

describe('parseSupervisorHint', () => {
  it('takes an order id', () => {
    const hint = { schemaVersion: 1, orderId: 'A-1' };
    expect(parseSupervisorHint(JSON.stringify(hint))).toEqual({ ok: true, value: hint });
  });

  it('refuses anything else with a reason', () => {
    expect(parseSupervisorHint({ schemaVersion: 1, orderId: '../x' })).toMatchObject({
      rejection: { reason: 'InvalidHint' },
    });
    expect(parseSupervisorHint('{bad')).toMatchObject({ ok: false, rejection: { reason: 'InvalidMessage' } });
  });
});
