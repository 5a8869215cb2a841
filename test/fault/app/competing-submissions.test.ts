import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../support/app-eventually.js';
import { expectProcessed } from '../../support/app-expect.js';
import { storedDocument } from '../../support/app-records.js';
import { startApp } from '../../support/app-stack.js';
import type { App } from '../../support/app-stack.js';
import { orderMessage } from '../../support/builders.js';

describe.concurrent('submissions that compete', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.stop());

  const sendTogether = async (bodies: readonly object[], orderId: string): Promise<void> => {
    const sender = app.bus.createSender('orders');
    await sender.sendMessages(bodies.map((body, index) => ({ body, messageId: `${orderId}.${index}` })));
    await sender.close();
  };

  it('with the same order count once (R71)', async () => {
    const copies = Array.from({ length: 8 }, () => orderMessage({ orderId: 'copies' }));
    await sendTogether(copies, 'copies');
    expect(await expectProcessed(app, 'copies')).toMatchObject({ attempt: 1 });
    await eventually(() => {
      expect(app.log.events('order-duplicate', 'copies')).toHaveLength(7);
    });
    expect(app.log.events('order-accepted', 'copies')).toHaveLength(1);
    await expectProcessed(app, 'copies');
    expect(app.orderDeadLetters.messages.filter(({ body }) => orderIdOf(body) === 'copies')).toEqual([]);
  });

  it('with different orders of one id leave one winner; all the others are dead letters (T45, R75)', async () => {
    const rivals = [1, 2, 3, 4].map((quantity) =>
      orderMessage({ orderId: 'rivals', lines: [{ sku: 'KETTLE', quantity, unitPriceMinor: 1 }] }),
    );
    await sendTogether(rivals, 'rivals');
    expect(await expectProcessed(app, 'rivals')).toMatchObject({ attempt: 1 });
    const losers = await eventually(() => {
      const found = app.orderDeadLetters.messages.filter(({ body }) => orderIdOf(body) === 'rivals');
      expect(found).toHaveLength(3);
      return found;
    });
    expect(losers.map(({ applicationProperties }) => applicationProperties?.['DeadLetterReason'])).toEqual([
      'OrderConflict',
      'OrderConflict',
      'OrderConflict',
    ]);
    const rejections = app.statuses['web-shop'].of('rivals').filter(({ status }) => status === 'OrderRejected');
    expect(rejections.map(({ reason }) => reason?.code)).toEqual(losers.map(() => 'OrderConflict'));
    const stored = await storedDocument(app, 'orders', 'rivals');
    for (const { body } of losers) expect(stored).not.toMatchObject({ order: body });
  });
});

function orderIdOf(body: unknown): unknown {
  return (body as { readonly orderId?: unknown }).orderId;
}
