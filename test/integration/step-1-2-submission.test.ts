import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/app-eventually.js';
import { expectProcessed } from '../support/app-expect.js';
import type { Received } from '../support/app-inbox.js';
import { submit, showRecord, untilRecord, untilStatuses } from '../support/app-orders.js';
import { storedDocument } from '../support/app-records.js';
import { startApp } from '../support/app-stack.js';
import type { App } from '../support/app-stack.js';
import { orderMessage } from '../support/builders.js';

describe('steps 1 and 2: submission', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.stop());

  const hold = (orderId: string): void => {
    app.remote.script({ orderId, service: 'payment', disturbance: 'hold' });
  };
  const deadLetter = (messageId: string): Promise<Received> =>
    eventually(() => {
      const found = app.orderDeadLetters.messages.filter((message) => message.messageId === messageId);
      expect(found).toHaveLength(1);
      return found[0] as Received;
    });
  const duplicates = (orderId: string): number => app.log.events('order-duplicate', orderId).length;

  it('stores the order and its state record, and tells the application', async () => {
    hold('stored');
    await submit(app, 'stored');
    await untilStatuses(app, 'stored', ['OrderReceived']);
    expect(await storedDocument(app, 'orders', 'stored')).toMatchObject({
      id: 'stored',
      order: { ...orderMessage({ orderId: 'stored' }), priority: 'normal' },
    });
    const record = await showRecord(app, 'stored');
    expect(record).toMatchObject({ id: 'stored', application: 'web-shop', failureCount: 0, workflowVersion: 1 });
    expect(record.steps.map(({ id }) => id)).toEqual(['payment', 'inventory', 'shipping']);
    app.remote.release('stored');
    await expectProcessed(app, 'stored');
  });

  it('takes the orders of two applications that chose the same MessageId', async () => {
    const orders = [
      orderMessage({ orderId: 'same-id-1' }),
      orderMessage({ orderId: 'same-id-2', application: 'mobile-app' }),
    ];
    for (const body of orders) await app.send('orders', { body, messageId: '1001' });
    for (const orderId of ['same-id-1', 'same-id-2']) {
      await untilRecord(app, orderId, ({ processState }) => processState === 'Processed');
    }
  });

  it('takes the same order a second time for what it is, in progress and when processed (C6)', async () => {
    hold('twice');
    await submit(app, 'twice');
    const running = await untilRecord(app, 'twice', ({ steps }) => steps[0]?.state === 'Running');
    await app.send('orders', { body: orderMessage({ orderId: 'twice' }), messageId: 'twice.second' });
    await eventually(() => {
      expect(duplicates('twice')).toBe(1);
    });
    expect(await showRecord(app, 'twice')).toEqual(running);

    app.remote.release('twice');
    const processed = await expectProcessed(app, 'twice');
    const reordered = Object.fromEntries(Object.entries(orderMessage({ orderId: 'twice' })).reverse());
    await app.send('orders', { body: { ...reordered, priority: 'normal' }, messageId: 'twice.third' });
    await eventually(() => {
      expect(duplicates('twice')).toBe(2);
    });
    expect(await showRecord(app, 'twice')).toEqual(processed);
    await expectProcessed(app, 'twice');
  });

  it('refuses another order with the same id, and keeps the first (C7, C20)', async () => {
    await submit(app, 'conflict');
    await expectProcessed(app, 'conflict');
    const changes = { lines: [{ sku: 'KETTLE', quantity: 3, unitPriceMinor: 1999 }], note: 'x'.repeat(100_000) };
    const other = orderMessage({ orderId: 'conflict', ...changes });
    await app.send('orders', { body: other, messageId: 'conflict.other', correlationId: 'of-the-sender' });

    const { body, correlationId, applicationProperties = {} } = await deadLetter('conflict.other');
    expect(body).toEqual(other);
    expect(correlationId).toBe('of-the-sender');
    expect(applicationProperties['DeadLetterReason']).toBe('OrderConflict');
    const description = String(applicationProperties['DeadLetterErrorDescription']);
    expect(description).toContain('lines');
    expect(description).not.toContain('KETTLE');
    expect(app.log.alerts('conflict')).toEqual(['order-conflict']);
    const stored = await storedDocument(app, 'orders', 'conflict');
    expect(stored).toMatchObject({ order: { lines: orderMessage()['lines'] } });
    await expectProcessed(app, 'conflict');
  });

  it.each([
    ['bytes', (order: object) => Buffer.from(JSON.stringify(order))],
    ['bytes-with-mark', (order: object) => Buffer.from(`\uFEFF${JSON.stringify(order)}`)],
    ['text', (order: object) => JSON.stringify(order)],
    ['text-in-text', (order: object) => Buffer.from(JSON.stringify(JSON.stringify(order)))],
  ])('reads an order from a body of %s (C17, C18)', async (name, encode) => {
    const orderId = `body-${name}`;
    await app.send('orders', { body: encode(orderMessage({ orderId })), messageId: orderId });
    await expectProcessed(app, orderId);
  });

  it('refuses a body that holds no JSON object, at its first delivery (C17)', async () => {
    const bodies = ['[{"orderId":"A"}]', '42', 'null', 'true', '', '{bad', '@\u0006string\b3http://schemas'];
    const receivesBefore = (await app.stack.counters('service-bus'))['orders.receives'] ?? 0;
    for (const [index, body] of bodies.entries()) {
      await app.send('orders', { body: Buffer.from(body), messageId: `no-object-${index}` });
    }
    for (const index of bodies.keys()) {
      const { applicationProperties = {} } = await deadLetter(`no-object-${index}`);
      expect(applicationProperties['DeadLetterReason'], bodies[index]).toBe('InvalidMessage');
    }
    expect((await app.stack.counters('service-bus'))['orders.receives']).toBe(receivesBefore + bodies.length);
  });

  it('refuses an order id outside the grammar before it writes anything (C5, C21, C27)', async () => {
    const ids = [
      'A#1',
      'A#2',
      'a?b',
      'a/b',
      'a\\b',
      '..',
      'a%2Fb',
      '',
      ' ',
      'x'.repeat(65),
      '注文'.repeat(50),
      12,
      null,
    ];
    const countersBefore = await app.stack.counters('cosmos-db');
    for (const [index, orderId] of ids.entries()) {
      await app.send('orders', { body: orderMessage({ orderId }), messageId: `bad-id-${index}` });
    }
    const tooBig = JSON.stringify(orderMessage({ orderId: 'N' })).replace('"N"', '4603086877212508601');
    await app.send('orders', { body: Buffer.from(tooBig), messageId: `bad-id-${ids.length}` });
    for (const index of [...ids.keys(), ids.length]) {
      const { applicationProperties = {} } = await deadLetter(`bad-id-${index}`);
      expect(applicationProperties['DeadLetterReason']).toBe('InvalidOrderId');
    }
    const counters = await app.stack.counters('cosmos-db');
    for (const name of ['orders/create', 'order-state/create']) expect(counters[name]).toBe(countersBefore[name]);
  });

  it('keeps an order id that looks like a number as the text it is (C21)', async () => {
    await submit(app, '007');
    const record = await expectProcessed(app, '007');
    expect(record.orderId).toBe('007');
  });

  it.each([
    ['of no registered application', 'another-shop', 'UnknownApplication'],
    ['of a name that is one of our own queues', 'payment-requests', 'UnknownApplication'],
    ['of a path', '../x', 'InvalidOrder'],
    ['of 300 characters', 'x'.repeat(300), 'InvalidOrder'],
    ['of none', undefined, 'InvalidOrder'],
  ])('refuses an order %s (C24)', async (name, application, reason) => {
    const messageId = `application-${name}`.replaceAll(' ', '-');
    await app.send('orders', { body: orderMessage({ orderId: 'stranger', application }), messageId });
    const { applicationProperties = {} } = await deadLetter(messageId);
    expect(applicationProperties['DeadLetterReason']).toBe(reason);
    expect(await storedDocument(app, 'orders', 'stranger')).toBeUndefined();
  });

  it("lets a sender set no field of the app's own documents (C25)", async () => {
    const own = { ttl: 1, id: 'z', _etag: 'y', lockedBy: 'x', processState: 'Processed', failureCount: 9, attempt: 7 };
    await submit(app, 'own-fields', own);
    const record = await expectProcessed(app, 'own-fields');
    expect(record).toMatchObject({ id: 'own-fields', lockedBy: 'own-fields.1', failureCount: 0, attempt: 1 });
    for (const container of ['orders', 'order-state'] as const) {
      const stored = await storedDocument(app, container, 'own-fields');
      expect(stored).toMatchObject({ id: 'own-fields' });
      for (const [name, value] of [
        ['ttl', own.ttl],
        ['_etag', own._etag],
      ] as const) {
        expect(stored?.[name]).not.toBe(value);
      }
    }
  });

  it('accepts orders whose message has no id, or a number for one (C32)', async () => {
    await app.send('orders', { body: orderMessage({ orderId: 'no-message-id' }) });
    await app.send('orders', { body: orderMessage({ orderId: 'number-for-id' }), messageId: 12345 });
    await expectProcessed(app, 'no-message-id');
    await expectProcessed(app, 'number-for-id');
  });

  it("answers 50 orders of one batch, each on its own application's queue (C31)", async () => {
    const applications = ['web-shop', 'mobile-app'] as const;
    const orders = Array.from({ length: 50 }, (_, index) => ({
      orderId: `batch-${index}`,
      application: applications[index % 2] ?? 'web-shop',
    }));
    const sender = app.bus.createSender('orders');
    await sender.sendMessages(orders.map((order) => ({ body: orderMessage(order), messageId: order.orderId })));
    await sender.close();
    for (const { orderId, application } of orders) {
      await expectProcessed(app, orderId);
      expect(app.statuses[application].of(orderId)).toHaveLength(2);
    }
  });
});
