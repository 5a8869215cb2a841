import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../support/app-eventually.js';
import { expectProcessed } from '../../support/app-expect.js';
import { startApp } from '../../support/app-stack.js';
import type { App } from '../../support/app-stack.js';
import { orderMessage } from '../../support/builders.js';

const soon = { withinMs: 60_000 };
const everyOperation = ['create', 'read', 'replace', 'upsert', 'query'];

describe('Cosmos DB', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({ MAX_FAILURES: '10', MAX_CALLS_PER_STEP: '40' });
  });
  afterEach(() => app.stack.setFaults('cosmos-db'));
  afterAll(() => app.stop());

  const sendOrders = async (orderIds: readonly string[]): Promise<void> => {
    const sender = app.bus.createSender('orders');
    await sender.sendMessages(orderIds.map((orderId) => ({ body: orderMessage({ orderId }), messageId: orderId })));
    await sender.close();
  };

  /** Sends the orders while the store answers with the error, until each was put off, and then expects all to be processed. */
  const expectNoneLost = async (
    orderIds: readonly string[],
    error: '503' | '403',
    send: () => Promise<void>,
  ): Promise<void> => {
    const earlier = app.log.events('message-redelivered').length;
    const rules = everyOperation.map((operation) => ({ operation, action: 'refuse', error }) as const);
    await app.stack.setFaults('cosmos-db', { seed: 1, rules });
    await send();
    await eventually(() => {
      expect(app.log.events('message-redelivered').length - earlier).toBeGreaterThanOrEqual(orderIds.length);
    }, soon);
    await app.stack.setFaults('cosmos-db');
    for (const orderId of orderIds) await expectProcessed(app, orderId, { patience: soon });
    expect(app.orderDeadLetters.messages).toEqual([]);
  };

  it.each(['503', '403'] as const)(
    'answering %s while orders arrive costs none of them and leaves no dead letter (C19, T48)',
    async (error) => {
      const orderIds = Array.from({ length: 20 }, (_, index) => `outage-${error}-${index}`);
      await expectNoneLost(orderIds, error, () => sendOrders(orderIds));
    },
    120_000,
  );

  it('away costs none of four orders whose bodies carry the same metadata as if it were the message’s own', async () => {
    const metadata = {
      messageId: 'SAME',
      correlationId: 'SAME',
      deliveryCount: 77,
      applicationProperties: { redelivery: 9, originalMessageId: 'SAME' },
    };
    const orderIds = Array.from({ length: 4 }, (_, index) => `same-metadata-${index}`);
    await expectNoneLost(orderIds, '503', async () => {
      for (const orderId of orderIds) {
        await app.send('orders', { body: { ...orderMessage({ orderId }), ...metadata }, messageId: orderId });
      }
    });
  }, 120_000);

  it('that throttles every third request counts no failure (C41)', async () => {
    const orderIds = Array.from({ length: 10 }, (_, index) => `throttled-${index}`);
    const rules = everyOperation.map(
      (operation) => ({ operation, action: 'refuse', error: '429', probability: 0.33 }) as const,
    );
    await app.stack.setFaults('cosmos-db', { seed: 7, rules });
    await sendOrders(orderIds);
    await eventually(() => {
      for (const orderId of orderIds) expect(app.statuses['web-shop'].of(orderId)).toHaveLength(2);
    }, soon);
    await app.stack.setFaults('cosmos-db');
    for (const orderId of orderIds) expect(await expectProcessed(app, orderId)).toMatchObject({ failureCount: 0 });
    expect(app.orderDeadLetters.messages).toEqual([]);
  }, 90_000);
});
