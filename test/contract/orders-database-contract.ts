/** What every orders database keeps. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OrdersDatabase } from '../../functions/state/ports.js';
import { anOrder, mustFind } from '../support/builders.js';
import { uniqueId } from '../support/contract-targets.js';

/** A database under test, as several processes see it. */
export interface OrdersUnderTest {
  readonly newProcess: () => OrdersDatabase;
  readonly close: () => Promise<void>;
}

/** The orders database contract. */
export function ordersDatabaseContract(name: string, open: () => Promise<OrdersUnderTest>): void {
  describe(`the orders database over ${name}`, () => {
    let target: OrdersUnderTest | undefined;
    const orders = (): OrdersDatabase => mustFind(target).newProcess();

    beforeAll(async () => {
      target = await open();
    });
    afterAll(() => target?.close());

    it('stores an order and gives it back to every process (R69)', async () => {
      const order = anOrder({ orderId: uniqueId() });
      expect(await orders().createIfAbsent(order)).toEqual({ created: true, stored: order });
      expect(await orders().get(order.orderId)).toEqual(order);
    });

    it('never overwrites: the first order stays and is told (R74, R75, T45)', async () => {
      const order = anOrder({ orderId: uniqueId() });
      const other = { ...order, paymentToken: 'tok_other' };
      await orders().createIfAbsent(order);
      expect(await orders().createIfAbsent(other)).toEqual({ created: false, stored: order });
      expect(await orders().get(order.orderId)).toEqual(order);
    });

    it('lets one of many different orders under one id win, and tells everybody which (T45)', async () => {
      const orderId = uniqueId();
      const competing = [1, 2, 3, 4, 5].map((number) => anOrder({ orderId, customerId: `customer-${number}` }));
      const results = await Promise.all(competing.map((order) => orders().createIfAbsent(order)));
      expect(results.filter(({ created }) => created)).toHaveLength(1);
      const stored = await orders().get(orderId);
      for (const result of results) expect(result.stored).toEqual(stored);
    });

    it('knows nothing of an order that was never stored', async () => {
      expect(await orders().get(uniqueId())).toBeUndefined();
    });

    it('keeps ids apart that differ only in case or look like numbers (C21)', async () => {
      const family = uniqueId();
      const ids = [`${family}-a`, `${family}-A`, `${family}-007`, `${family}-7`];
      for (const orderId of ids) await orders().createIfAbsent(anOrder({ orderId, customerId: orderId }));
      for (const orderId of ids) expect((await orders().get(orderId))?.customerId).toBe(orderId);
    });

    it('keeps every letter of an order, in any script', async () => {
      const order = anOrder({ orderId: uniqueId(), customerId: '注文 🛒 Ž' });
      await orders().createIfAbsent(order);
      expect(await orders().get(order.orderId)).toEqual(order);
    });
  });
}
