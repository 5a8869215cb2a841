import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../support/app-eventually.js';
import { expectProcessed } from '../../support/app-expect.js';
import { openInbox } from '../../support/app-inbox.js';
import type { Inbox } from '../../support/app-inbox.js';
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

  /** The dead letter of the message with this id. */
  const letterOf = (messageId: string): Promise<Inbox['messages'][number]> =>
    eventually(() => {
      const letter = app.orderDeadLetters.messages.find((message) => message.messageId === messageId);
      if (letter === undefined) throw new Error(`no dead letter ${messageId} yet`);
      return letter;
    });

  it('keep the ids that the broker has, whatever their bodies say', async () => {
    const body = {
      ...orderMessage({ orderId: 'forged', currency: 'euro' }),
      messageId: 'SPOOFED',
      correlationId: 'SPOOFED',
    };
    await app.send('orders', {
      body,
      messageId: 'genuine',
      correlationId: 'c-1',
      applicationProperties: { origin: 'shop' },
    });
    expect(await letterOf('genuine')).toMatchObject({
      correlationId: 'c-1',
      applicationProperties: { origin: 'shop', DeadLetterReason: 'InvalidOrder' },
    });
  });

  it('keep their bytes and their reason when they are nested too deeply to be written again', async () => {
    const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;
    const body = JSON.stringify(orderMessage({ orderId: 'deep', currency: 'euro' })).replace('{', `{"extra":${deep},`);
    await app.send('orders', { body: Buffer.from(body), messageId: 'deep' });
    expect((await letterOf('deep')).applicationProperties).toMatchObject({ DeadLetterReason: 'InvalidOrder' });
  });

  it.each(queues)('in %s that are not UTF-8 are refused at the first delivery, not altered', async (queue) => {
    const inbox = queue === 'orders' ? app.orderDeadLetters : openInbox(app.bus, `${queue}-dead-letter`);
    const body = Buffer.from(JSON.stringify(orderMessage({ orderId: 'latin-1', customerId: 'Müller' })), 'latin1');
    await app.send(queue, { body, messageId: `latin-1-${queue}` });
    const letter = await eventually(() => {
      const found = inbox.messages.find(({ messageId }) => messageId === `latin-1-${queue}`);
      if (found === undefined) throw new Error('no dead letter yet');
      return found;
    });
    expect(letter.applicationProperties).toMatchObject({ DeadLetterReason: 'InvalidMessage' });
    if (inbox !== app.orderDeadLetters) await inbox.close();
  });
});
