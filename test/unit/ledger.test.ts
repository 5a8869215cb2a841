import { beforeEach, describe, expect, it } from 'vitest';
import { recordEffect } from '../../functions/demo/ledger.js';
import type { LedgerAnswer, LedgerCall, LedgerEntry } from '../../functions/demo/ledger.js';
import { behaviourOf } from '../../functions/demo/magic-values.js';
import { simulateRemote } from '../../functions/demo/remote-simulation.js';
import type { SimulatedCall } from '../../functions/demo/remote-simulation.js';
import { createMemoryLedger } from '../support/memory-ledger.js';
import type { MemoryLedger } from '../support/memory-ledger.js';

let ledger: MemoryLedger;

beforeEach(() => {
  ledger = createMemoryLedger();
});

const charge: LedgerCall = { orderId: 'A-1', service: 'payment', action: 'do', key: 'A-1.payment', token: 1 };
const refund: LedgerCall = { ...charge, action: 'undo', key: 'A-1.payment.undo', token: 2 };
const call = (changes: Partial<LedgerCall> = {}): Promise<LedgerAnswer> =>
  recordEffect(ledger, { ...charge, ...changes });
const entry = (): LedgerEntry | undefined => ledger.entries.get('A-1.payment');

describe('the ledger of the simulated remote services', () => {
  it('has one effect for a key, however often and however concurrently it is asked for (L1, R57)', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => call()));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(entry()).toMatchObject({ effect: { key: 'A-1.payment', token: 1 }, undo: null });
  });

  it('shows a second effect under another key: that is what tests count', async () => {
    await call();
    await call({ key: 'A-1.2.payment', token: 2 });
    expect(entry()).toMatchObject({ furtherKeys: ['A-1.2.payment'] });
  });

  it('refuses a token lower than one it has seen, also after a mere repeat (L2, R101)', async () => {
    await call();
    expect(await call({ token: 3 })).toMatchObject({ kind: 'done' });
    expect(await call({ token: 2 })).toEqual({ kind: 'staleToken' });
  });

  it('keeps an undo as a tombstone: what arrives after it is refused (L3, T73)', async () => {
    await call();
    expect(await recordEffect(ledger, refund)).toMatchObject({ kind: 'done' });
    expect(await call({ token: 2 })).toEqual({ kind: 'undone' });
    expect(entry()).toMatchObject({ undo: { key: 'A-1.payment.undo' } });
  });

  it('has one undo, however often it is asked for (L1, R57)', async () => {
    await call();
    for (const token of [2, 2, 3])
      expect(await recordEffect(ledger, { ...refund, token })).toMatchObject({ kind: 'done' });
    expect(entry()).toMatchObject({ undo: { key: 'A-1.payment.undo', token: 2 }, furtherKeys: [] });
  });

  it('remembers a refusal: its key has no effect later, and another key may have one (L4)', async () => {
    expect(await call({ action: 'refuse' })).toEqual({ kind: 'refused' });
    expect(await call({ token: 2 })).toEqual({ kind: 'refused' });
    expect(entry()).toMatchObject({ effect: null });
    expect(await call({ key: 'A-1.payment.again', token: 2 })).toMatchObject({ kind: 'done' });
  });

  it('does not refuse what it has done under the key: one key has one answer (L1, L4)', async () => {
    await call();
    expect(await call({ action: 'refuse' })).toMatchObject({ kind: 'done' });
  });

  it('takes an undo of what was never done, which stays undone (T73)', async () => {
    expect(await recordEffect(ledger, refund)).toMatchObject({ kind: 'done' });
    expect(await call({ token: 2 })).toEqual({ kind: 'undone' });
    expect(entry()).toMatchObject({ effect: null });
  });
});

describe('magic values', () => {
  it.each(['constructor', 'toString', '__proto__', 'valueOf'])(
    'are not what every object has: %s is ordinary',
    (name) => {
      expect(behaviourOf('payment', { paymentToken: name })).toBe('ok');
      expect(behaviourOf('inventory', { lines: [{ sku: name }] })).toBe('ok');
      expect(behaviourOf('shipping', { shippingAddress: { postalCode: name } })).toBe('ok');
    },
  );
});

describe('a simulated remote service', () => {
  function ask(changes: Partial<SimulatedCall> = {}, body: object = {}): Promise<unknown> {
    const base = { service: 'payment', operation: 'charges', key: 'A-1.payment', token: 1 };
    return simulateRemote({ ...base, body: { orderId: 'A-1', ...body }, ...changes }, ledger);
  }

  it('does what it is asked and gives a reference', async () => {
    expect(await ask()).toEqual({ status: 200, json: { reference: 'payment-A-1.payment' } });
  });

  it.each([
    ['tok_declined', 422],
    ['tok_closed_account', 400],
    ['tok_unavailable_once', 503],
  ])('answers the payment token %s with %d and does nothing', async (paymentToken, status) => {
    expect(await ask({}, { paymentToken })).toMatchObject({ status });
    expect(entry()?.effect ?? null).toBeNull();
  });

  it.each(['tok_hang', 'tok_hang_once'])(
    'never answers the payment token %s in the first attempt',
    async (paymentToken) => {
      expect(await ask({}, { paymentToken })).toBeUndefined();
    },
  );

  it.each(['tok_hang_once', 'tok_unavailable_once'])(
    'answers the payment token %s in the second attempt',
    async (paymentToken) => {
      expect(await ask({ token: 2 }, { paymentToken })).toMatchObject({ status: 200 });
    },
  );

  it.each([
    ['inventory', 'reservations', { lines: [{ sku: 'OUT-OF-STOCK' }] }, 422],
    ['shipping', 'shipments', { shippingAddress: { postalCode: 'NO-CARRIER' } }, 422],
    ['shipping', 'shipments', { shippingAddress: { postalCode: 'CLOSED' } }, 400],
  ])('%s/%s is steered by values of its own', async (service, operation, body, status) => {
    expect(await ask({ service, operation }, body)).toMatchObject({ status });
  });

  it.each([
    [{ operation: 'steal' }, {}],
    [{ service: 'nobody' }, {}],
    [{ key: null }, {}],
    [{ token: 0 }, {}],
    [{}, { orderId: '../x' }],
  ])('refuses what is no call of it: %j %j', async (changes, body) => {
    expect(await ask(changes, body)).toMatchObject({ status: 400 });
    expect(ledger.entries.size).toBe(0);
  });

  it('refuses an older attempt with 409', async () => {
    await ask({ token: 2 });
    expect(await ask({ token: 1 })).toMatchObject({ status: 409 });
  });
});
