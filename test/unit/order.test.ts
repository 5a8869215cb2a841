import { describe, expect, it } from 'vitest';
import { canonicalOrder, differingFields, orderTotalMinor, parseOrder } from '../../functions/contracts/order.js';
import { orderHash } from '../../functions/submit/order-hash.js';
import { anOrder, orderMessage } from '../support/builders.js';

function rejectionOf(body: unknown): { reason: string; description: string } {
  const parsed = parseOrder(body);
  if (parsed.ok) throw new Error('the order was taken');
  return parsed.rejection;
}

describe('parseOrder', () => {
  it('takes a good order and fills in the defaults', () => {
    const parsed = parseOrder(orderMessage());
    expect(parsed).toMatchObject({ ok: true, value: { orderId: 'A-1', priority: 'normal' } });
  });

  it('takes an order as bytes with a byte order mark (C18)', () => {
    expect(parseOrder(Buffer.from(`\uFEFF${JSON.stringify(orderMessage())}`)).ok).toBe(true);
  });

  it.each([undefined, '', '{bad', 42, null, [orderMessage()]])('names %j no message (C17, T51)', (body) => {
    expect(rejectionOf(body).reason).toBe('InvalidMessage');
  });

  it.each(['A#1', 'a?b', 'a/b', 'a\\b', '..', 'a%2Fb', '', undefined, 2 ** 62, 'x'.repeat(65)])(
    'names order id %j invalid (C5, C21, C27)',
    (orderId) => {
      const { reason, description } = rejectionOf(orderMessage({ orderId }));
      expect(reason).toBe('InvalidOrderId');
      expect(description).toContain('orderId: expected');
    },
  );

  it.each([2, 0, 99])('refuses schema version %d as unknown (T81)', (schemaVersion) => {
    expect(rejectionOf(orderMessage({ schemaVersion })).reason).toBe('UnsupportedSchemaVersion');
  });

  // C24, T56: missing, not a name, another queue's name, too long
  it.each([undefined, '../x', 'status-web-shop/x', 'x'.repeat(300), 7])('refuses application %j', (application) => {
    expect(rejectionOf(orderMessage({ application })).reason).toBe('InvalidOrder');
  });

  // C29: money is an integer count of minor units
  it.each([19.99, 0.1 + 0.2, 1e21, -1, '1999', Number.NaN, 1.005])('refuses %j as an amount', (unitPriceMinor) => {
    const lines = [{ sku: 'KETTLE', quantity: 1, unitPriceMinor }];
    const { reason, description } = rejectionOf(orderMessage({ lines }));
    expect(reason).toBe('InvalidOrder');
    expect(description).toContain('lines.0.unitPriceMinor');
  });

  it('names every wrong field at once and quotes no value', () => {
    const secret = 'tok_secret_4711';
    const { description } = rejectionOf(
      orderMessage({ currency: secret, priority: secret, customerId: '', lines: [], paymentToken: secret.repeat(20) }),
    );
    for (const field of ['currency', 'priority', 'customerId', 'lines', 'paymentToken']) {
      expect(description).toContain(`${field}: `);
    }
    expect(description).not.toContain(secret);
  });

  it('cuts the description to what a broker takes (C20)', () => {
    const lines = Array.from({ length: 2_000 }, () => ({ sku: '', quantity: 0, unitPriceMinor: -1 }));
    expect(rejectionOf(orderMessage({ lines })).description.length).toBeLessThanOrEqual(4096);
  });

  it('drops every field that the contract does not name (C25)', () => {
    const foreign = { ttl: 1, processState: 'Processed', lockedBy: 'x', _etag: 'y', _ts: 1, id: 'z', completeBy: null };
    expect(anOrder(foreign)).toEqual(anOrder());
  });
});

describe('orderTotalMinor', () => {
  it('is exact in minor units (C29)', () => {
    expect(orderTotalMinor(anOrder())).toBe(3998);
    const lines = Array.from({ length: 3 }, () => ({ sku: 'S', quantity: 1, unitPriceMinor: 10 }));
    expect(orderTotalMinor(anOrder({ lines }))).toBe(30);
  });

  it('stays exact for the largest order', () => {
    const lines = Array.from({ length: 200 }, () => ({ sku: 'S', quantity: 10_000, unitPriceMinor: 1_000_000_000 }));
    expect(orderTotalMinor(anOrder({ lines }))).toBe(2_000_000_000_000_000);
  });
});

describe('two orders', () => {
  it('are equal whatever the order of their keys and whether a default is written (T46)', () => {
    const reversed = Object.fromEntries(Object.entries(orderMessage({ priority: 'normal' })).reverse());
    expect(canonicalOrder(anOrder(reversed))).toBe(canonicalOrder(anOrder()));
    expect(orderHash(anOrder(reversed))).toBe(orderHash(anOrder()));
    expect(differingFields(anOrder(), anOrder(reversed))).toEqual([]);
  });

  it('differ when any field differs, and the names say where, never the values (C7)', () => {
    const other = anOrder({ paymentToken: 'tok_other', lines: [{ sku: 'KETTLE', quantity: 3, unitPriceMinor: 1999 }] });
    expect(orderHash(other)).not.toBe(orderHash(anOrder()));
    expect(differingFields(anOrder(), other)).toEqual(['lines', 'paymentToken']);
  });

  it('differ when another application sends the same', () => {
    expect(differingFields(anOrder(), anOrder({ application: 'mobile-app' }))).toEqual(['application']);
  });

  it('differ when the same lines come in another order', () => {
    const [one, two] = [1, 2].map((quantity) => ({ sku: `S${quantity}`, quantity, unitPriceMinor: 1 }));
    expect(differingFields(anOrder({ lines: [one, two] }), anOrder({ lines: [two, one] }))).toEqual(['lines']);
  });
});

it('the hash of an order is hexadecimal SHA-256 of its canonical text', () => {
  expect(orderHash(anOrder())).toMatch(/^[0-9a-f]{64}$/);
});
