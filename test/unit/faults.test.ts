import { describe, expect, it } from 'vitest';
import { createFaults, parseFaultPlan, type FaultRule } from '../../local/faults/index.js';

const dropOrders: FaultRule = { operation: 'send', entity: 'orders', action: 'drop' };

function hitsOf(rule: FaultRule, asks: number, seed = 1): number[] {
  const faults = createFaults({ seed, rules: [rule] });
  return Array.from({ length: asks }, (_, index) => index).filter(() => faults.decide('send', 'orders') !== undefined);
}

describe('faults', () => {
  it('hit nothing without a plan', () => {
    expect(createFaults().decide('send', 'orders')).toBeUndefined();
  });

  it('hit only the operation and the entity of the rule', () => {
    const faults = createFaults({ seed: 1, rules: [dropOrders] });
    expect(faults.decide('send', 'orders')).toEqual(dropOrders);
    expect(faults.decide('send', 'status-web-shop')).toBeUndefined();
    expect(faults.decide('receive', 'orders')).toBeUndefined();
    expect(faults.decide('send')).toBeUndefined();
  });

  it('hit any entity when the rule names none', () => {
    const faults = createFaults({ seed: 1, rules: [{ operation: 'send', action: 'drop' }] });
    expect(faults.decide('send', 'orders')?.action).toBe('drop');
    expect(faults.decide('send')?.action).toBe('drop');
  });

  it('let the first matches pass and stop after so many hits', () => {
    expect(hitsOf({ ...dropOrders, skip: 2, times: 3 }, 10)).toEqual([2, 3, 4]);
  });

  it('hit by chance, the same for the same seed and different for another (F1)', () => {
    const rule: FaultRule = { ...dropOrders, probability: 0.3 };
    const hits = hitsOf(rule, 1000);
    expect(hits.length).toBeGreaterThan(240);
    expect(hits.length).toBeLessThan(360);
    expect(hitsOf(rule, 1000)).toEqual(hits);
    expect(hitsOf(rule, 1000, 2)).not.toEqual(hits);
  });

  it('never hit with probability 0', () => {
    expect(hitsOf({ ...dropOrders, probability: 0 }, 1000)).toEqual([]);
  });

  it('keep the chances of one rule whatever traffic another one sees (F1)', () => {
    const rules: FaultRule[] = [
      { operation: 'replace', action: 'drop', probability: 0.5 },
      { operation: 'send', action: 'drop', probability: 0.5 },
    ];
    const hits = (noise: number): number[] => {
      const faults = createFaults({ seed: 5, rules });
      return Array.from({ length: 50 }, (_, index) => index).filter(() => {
        for (let count = 0; count < noise; count += 1) faults.decide('replace');
        return faults.decide('send') !== undefined;
      });
    };
    expect(hits(3)).toEqual(hits(0));
  });

  it('do not hit two rules with the same chance in step (F1)', () => {
    const rules: FaultRule[] = ['lock', 'send'].map((operation) => ({ operation, action: 'drop', probability: 0.5 }));
    const faults = createFaults({ seed: 5, rules });
    const isSame = Array.from({ length: 50 }, () => !faults.decide('lock') === !faults.decide('send'));
    expect(isSame).toContain(false);
    expect(isSame).toContain(true);
  });

  it('ask the rules in their order, and count the hit of the first only (F2)', () => {
    const later: FaultRule = { operation: 'send', action: 'delay', delayMs: 5 };
    const faults = createFaults({ seed: 1, rules: [{ ...dropOrders, times: 1 }, later] });
    expect(faults.decide('send', 'orders')?.action).toBe('drop');
    expect(faults.decide('send', 'orders')?.action).toBe('delay');
    expect(faults.counters()).toEqual({ 'faults/send/orders/drop': 1, 'faults/send/*/delay': 1 });
  });

  it('count hits over replaced plans, and show rules that were never hit', () => {
    const faults = createFaults({ seed: 1, rules: [dropOrders] });
    faults.decide('send', 'orders');
    faults.replace({ seed: 1, rules: [dropOrders, { operation: 'lock', action: 'drop' }] });
    faults.decide('send', 'orders');
    expect(faults.counters()).toEqual({ 'faults/send/orders/drop': 2, 'faults/lock/*/drop': 0 });
  });

  it('start a replaced plan with fresh skips and times', () => {
    const plan = { seed: 1, rules: [{ ...dropOrders, times: 1 }] };
    const faults = createFaults(plan);
    expect(faults.decide('send', 'orders')).toBeDefined();
    expect(faults.decide('send', 'orders')).toBeUndefined();
    faults.replace(plan);
    expect(faults.decide('send', 'orders')).toBeDefined();
    faults.replace();
    expect(faults.decide('send', 'orders')).toBeUndefined();
  });

  it('hold a paused operation until the plan is replaced', async () => {
    const faults = createFaults({ seed: 1, rules: [{ operation: 'send', action: 'pause' }] });
    const events: string[] = [];
    const paused = faults.whenReplaced().then(() => events.push('resumed'));
    await Promise.resolve();
    events.push('replaced');
    faults.replace();
    await paused;
    expect(events).toEqual(['replaced', 'resumed']);
  });
});

describe('a fault plan from outside', () => {
  it('is accepted when every field is right', () => {
    const plan = {
      seed: 7,
      rules: [
        { operation: 'send', entity: 'orders', action: 'delay', delayMs: 10, skip: 0, times: 1, probability: 0.5 },
        { operation: 'replace', action: 'refuse', error: '503' },
      ],
    };
    expect(parseFaultPlan(plan)).toEqual(plan);
  });

  it.each([
    ['not an object', [], 'the plan must be an object'],
    ['no seed', { rules: [] }, 'seed is missing'],
    ['a seed that is no whole number', { seed: 1.5, rules: [] }, 'seed is 1.5 and must be a whole number'],
    ['rules that are no list', { seed: 1, rules: {} }, 'rules is {} and must be a list'],
    ['an unknown field', { seed: 1, rules: [], sede: 2 }, 'sede is not known; known are seed, rules'],
    ['a field named like a method', { seed: 1, rules: [], toString: 2 }, 'toString is not known'],
    ['a rule that is no object', { seed: 1, rules: ['drop'] }, 'rules[0] must be an object'],
    ['no operation', { seed: 1, rules: [{ action: 'drop' }] }, 'rules[0].operation is missing'],
    [
      'an unknown action',
      { seed: 1, rules: [{ operation: 'send', action: 'explode' }] },
      'rules[0].action is "explode"',
    ],
    [
      'a delay without time',
      { seed: 1, rules: [{ operation: 'send', action: 'delay' }] },
      'rules[0].delayMs is missing',
    ],
    [
      'times 0',
      { seed: 1, rules: [{ ...dropOrders, times: 0 }] },
      'rules[0].times is 0 and must be a whole number from 1',
    ],
    ['a chance above 1', { seed: 1, rules: [{ ...dropOrders, probability: 2 }] }, 'rules[0].probability is 2'],
    [
      'a time without delay',
      { seed: 1, rules: [{ ...dropOrders, delayMs: 1 }] },
      'delayMs has an effect with action delay',
    ],
    [
      'an error without refusal',
      { seed: 1, rules: [{ ...dropOrders, error: 'x' }] },
      'error has an effect with action refuse',
    ],
  ])('is refused for %s, by name', (_problem, plan, message) => {
    expect(() => parseFaultPlan(plan)).toThrow(message);
  });

  it('is refused with all its problems at once', () => {
    const plan = { seed: 'x', rules: [dropOrders, { operation: '', action: 'drop' }, { operation: 'send' }] };
    expect(() => parseFaultPlan(plan)).toThrow(
      /seed is "x".*; rules\[1\]\.operation is "".*; rules\[2\]\.action is missing/,
    );
  });
});
