import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../support/app-eventually.js';
import { expectProcessed } from '../../support/app-expect.js';
import { openInbox } from '../../support/app-inbox.js';
import { submit } from '../../support/app-orders.js';
import { startApp } from '../../support/app-stack.js';
import type { App } from '../../support/app-stack.js';
import { orderMessage } from '../../support/builders.js';

const queues = ['orders', 'payment-requests', 'payment-replies', 'shipping-replies', 'supervisor-hints'];

describe('poison messages', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.stop());

  it('in every queue are set aside with a reason, and good orders next to them go on (T51, C19)', async () => {
    const inboxes = queues.map((queue) => openInbox(app.bus, `${queue}-dead-letter`));
    const orderIds = Array.from({ length: 10 }, (_, index) => `good-${index}`);
    for (const [index, orderId] of orderIds.entries()) {
      await submit(app, orderId);
      const queue = queues[index % queues.length] ?? '';
      await app.send(queue, { body: Buffer.from('{"not": "finished'), messageId: `poison-${index}` });
    }
    for (const orderId of orderIds) {
      expect(await expectProcessed(app, orderId)).toMatchObject({ attempt: 1, failureCount: 0 });
    }
    const found = await eventually(() => {
      const all = [...inboxes, app.orderDeadLetters].flatMap(({ messages }) => messages);
      expect(all).toHaveLength(orderIds.length);
      return all;
    });
    for (const { applicationProperties } of found) {
      expect(applicationProperties?.['DeadLetterReason']).toBe('InvalidMessage');
    }
    expect(new Set(found.map(({ messageId }) => messageId)).size).toBe(orderIds.length);
    await Promise.all(inboxes.map((inbox) => inbox.close()));
  });

  it('of a newer schema are kept for a newer build, and somebody is told (T81)', async () => {
    await app.send('orders', { body: orderMessage({ orderId: 'newer', schemaVersion: 2 }), messageId: 'newer' });
    await eventually(() => {
      expect(app.log.events('message-rejected').at(-1)).toMatchObject({ reason: 'UnsupportedSchemaVersion' });
    });
    expect(app.log.alerted('message-newer')).toEqual(['orders']);
  });
});
