import { ServiceBusClient } from '@azure/service-bus';
import { describe, expect, it } from 'vitest';
import { createOrderClient, ClientClosedError, SubmitFailedError } from '../../client/index.js';
import type { OrderClient, OrderClientOptions, StatusKind, StatusMessage } from '../../client/index.js';
import { exampleOrder } from '../../cli/orders/example-order.js';
import { startStack } from '../../local/stack.js';
import {
  cleanUp,
  createClient,
  receive,
  startTestBroker,
  temporaryDirectory,
  until,
} from '../support/service-bus-broker.js';
import type { TestBroker } from '../support/service-bus-broker.js';

const queues = [
  { name: 'orders', requiresDuplicateDetection: true, duplicateDetectionHistoryTimeWindow: 'PT10M' },
  { name: 'status-web-shop', lockDuration: 'PT1M', maxDeliveryCount: 10 },
];

interface Application extends TestBroker {
  readonly orderClient: OrderClient;
  readonly errors: unknown[];
  readonly send: (...statuses: object[]) => Promise<void>;
}

async function application(options: Partial<OrderClientOptions> = {}): Promise<Application> {
  const broker = await startTestBroker(queues);
  const errors: unknown[] = [];
  const orderClient = createOrderClient({
    serviceBus: broker.client,
    application: 'web-shop',
    onError: (error) => errors.push(error),
    ...options,
  });
  cleanUp(() => orderClient.close());
  const sender = broker.client.createSender('status-web-shop');
  const send = async (...statuses: object[]): Promise<void> => {
    for (const body of statuses) await sender.sendMessages({ body });
  };
  return { ...broker, orderClient, errors, send };
}

function status(orderId: string, seq: number, kind: StatusKind): StatusMessage {
  return { schemaVersion: 1, orderId, seq, status: kind, at: '2030-01-01T00:00:00.000Z' };
}

/**
 * What still lies in the queue, locked or not. With a connection of its own: all receivers of a client share the place
 * where their last peek ended.
 */
async function left({ broker }: TestBroker, queue = 'status-web-shop'): Promise<readonly unknown[]> {
  const client = new ServiceBusClient(broker.connectionString);
  const found = await client.createReceiver(queue).peekMessages(100);
  await client.close();
  return found.map(({ body }) => body as unknown);
}

async function untilEmpty(broker: TestBroker): Promise<void> {
  while ((await left(broker)).length > 0);
}

describe('submitting', () => {
  it('counts the same order once at the broker', async () => {
    const app = await application();
    const { client, orderClient } = app;
    const one = await orderClient.submitOrder(exampleOrder('a'));
    const again = await orderClient.submitOrder(exampleOrder('a'));
    const other = await orderClient.submitOrder(exampleOrder('a', { sku: 'PEN' }));
    expect(again).toEqual(one);
    const messages = await receive(client.createReceiver('orders'), 2);
    expect(messages.map(({ messageId }) => messageId)).toEqual([one.messageId, other.messageId]);
    expect(messages[0]?.body).toMatchObject({ orderId: 'a', application: 'web-shop' });
    expect(await left(app, 'orders')).toHaveLength(2);
  });

  it('sends an order anew that was turned away, and waits for its new answer', async () => {
    const { client, orderClient, send } = await application();
    await orderClient.submitOrder(exampleOrder('a'));
    await send({ ...status('a', 0, 'OrderRejected'), reason: { code: 'Busy', message: 'later' }, retryAfterMs: 1_000 });
    await expect(orderClient.waitForStatus('a')).resolves.toMatchObject({
      status: 'OrderRejected',
      retryAfterMs: 1_000,
    });
    await orderClient.submitOrder(exampleOrder('a'));
    await receive(client.createReceiver('orders'), 2);
    const second = orderClient.waitForStatus('a');
    await send(status('a', 1, 'OrderReceived'), status('a', 2, 'OrderCompleted'));
    await expect(second).resolves.toMatchObject({ status: 'OrderCompleted' });
  });

  it('fails for good when the queue does not exist', async () => {
    const { client } = await startTestBroker([{ name: 'other' }]);
    const orderClient = createOrderClient({ serviceBus: client, application: 'web-shop' });
    cleanUp(() => orderClient.close());
    await expect(orderClient.submitOrder(exampleOrder('a'))).rejects.toThrow(SubmitFailedError);
  });

  it('goes on when the broker is away for a while', async () => {
    const dataDirectory = await temporaryDirectory();
    const first = await startTestBroker(queues, { dataDirectory });
    const client = createClient(first.broker.connectionString, { timeoutInMs: 1_000 });
    const orderClient = createOrderClient({ serviceBus: client, application: 'web-shop' });
    cleanUp(() => orderClient.close());
    await orderClient.submitOrder(exampleOrder('a'));
    const { port } = first.broker;
    await first.broker.close();
    const submitted = orderClient.submitOrder(exampleOrder('b'));
    const second = await startTestBroker(queues, { dataDirectory, port });
    await submitted;
    expect(await left(second, 'orders')).toHaveLength(2);
  });
});

describe('reading statuses', () => {
  it('hands over each status once and none after a newer one, and leaves nothing on the queue (F1, F2)', async () => {
    const app = await application();
    const { orderClient, send } = app;
    const seen: string[] = [];
    orderClient.subscribe(({ orderId, seq }) => void seen.push(`${orderId}.${seq}`));
    const received = status('a', 1, 'OrderReceived');
    const completed = status('a', 2, 'OrderCompleted');
    await send(received, received, completed, received, completed, status('b', 1, 'OrderReceived'));
    await until(() => seen.includes('b.1'));
    await untilEmpty(app);
    expect(seen).toEqual(['a.1', 'a.2', 'b.1']);
  });

  it('completes a message only after its handler has finished (F1)', async () => {
    const app = await application();
    const { orderClient, send } = app;
    const running: (() => void)[] = [];
    orderClient.subscribe(
      () =>
        new Promise<void>((finish) => {
          running.push(finish);
        }),
    );
    await send(status('a', 1, 'OrderReceived'));
    await until(() => running.length === 1);
    expect(await left(app)).toHaveLength(1);
    running[0]?.();
    await untilEmpty(app);
  });

  it('delivers a status again whose handler has thrown (F1)', async () => {
    const app = await application();
    const { orderClient, errors, send } = app;
    const calls: number[] = [];
    orderClient.subscribe(({ seq }) => {
      calls.push(seq);
      if (calls.length === 1) throw new Error('the database is away');
    });
    await send(status('a', 1, 'OrderReceived'));
    await untilEmpty(app);
    expect(calls).toEqual([1, 1]);
    expect(errors.map(String)).toEqual(['Error: the database is away']);
  });

  it('handles the statuses of one order one after the other, those of others beside them (F2)', async () => {
    const app = await application({ maxConcurrentStatuses: 4 });
    const { orderClient, send } = app;
    const log: string[] = [];
    let finishFirst = (): void => undefined;
    orderClient.subscribe(async ({ orderId, seq }) => {
      log.push(`${orderId}.${seq} begins`);
      if (orderId === 'a' && seq === 1) await new Promise<void>((finish) => (finishFirst = finish));
      log.push(`${orderId}.${seq} ends`);
    });
    await send(status('a', 1, 'OrderReceived'), status('a', 2, 'OrderCompleted'), status('b', 1, 'OrderReceived'));
    await until(() => log.includes('b.1 ends'));
    expect(log).toEqual(['a.1 begins', 'b.1 begins', 'b.1 ends']);
    finishFirst();
    await untilEmpty(app);
    expect(log.slice(3)).toEqual(['a.1 ends', 'a.2 begins', 'a.2 ends']);
  });

  it('leaves on the queue what it has taken when its last reader goes meanwhile (F3)', async () => {
    const app = await application({ maxConcurrentStatuses: 4 });
    const { orderClient, send } = app;
    const seen: string[] = [];
    let finishFirst = (): void => undefined;
    const unsubscribe = orderClient.subscribe(async ({ orderId, seq }) => {
      seen.push(`${orderId}.${seq}`);
      if (orderId === 'a') await new Promise<void>((finish) => (finishFirst = finish));
    });
    await send(status('a', 1, 'OrderReceived'), status('a', 2, 'OrderCompleted'), status('b', 1, 'OrderReceived'));
    await until(() => seen.includes('b.1')); // It came last: the second status of order a has been taken, too.
    unsubscribe();
    finishFirst();
    await orderClient.close();
    expect(seen).toEqual(['a.1', 'b.1']);
    expect(await left(app)).toMatchObject([{ orderId: 'a', seq: 2 }]);
  });

  it('sets aside what is no status, with a reason', async () => {
    const app = await application();
    const { client, orderClient, send } = app;
    const seen: number[] = [];
    orderClient.subscribe(({ seq }) => void seen.push(seq));
    await send({ schemaVersion: 2 }, status('a', 1, 'OrderReceived'));
    await until(() => seen.length === 1);
    await untilEmpty(app);
    const [letter] = await receive(client.createReceiver('status-web-shop', { subQueueType: 'deadLetter' }), 1);
    expect(letter).toMatchObject({ deadLetterReason: 'InvalidStatus', body: { schemaVersion: 2 } });
  });

  it('takes nothing while nobody reads (F3)', async () => {
    const app = await application();
    const { orderClient, send } = app;
    const seen: number[] = [];
    const unsubscribe = orderClient.subscribe(({ seq }) => void seen.push(seq));
    await send(status('a', 1, 'OrderReceived'));
    await until(() => seen.length === 1);
    unsubscribe();
    await untilEmpty(app);
    await send(status('a', 2, 'OrderCompleted'));
    expect(await left(app)).toHaveLength(1);
    await expect(orderClient.waitForStatus('a')).resolves.toMatchObject({ seq: 2 });
    expect(seen).toEqual([1]);
  });

  it('goes on reading after the broker was killed and started again', async () => {
    const stack = await startStack({ host: false });
    cleanUp(() => stack.stop());
    const orderClient = createOrderClient({ serviceBus: stack.connectionString, application: 'web-shop' });
    cleanUp(() => orderClient.close());
    const sendStatus = (seq: number, kind: StatusKind): Promise<void> =>
      createClient(stack.connectionString)
        .createSender('status-web-shop')
        .sendMessages({ body: status('a', seq, kind) });
    const completed = orderClient.waitForStatus('a', { until: 'OrderCompleted' });
    await sendStatus(1, 'OrderReceived');
    await orderClient.waitForStatus('a', { until: 'OrderReceived' });
    await stack.kill('service-bus');
    await stack.restart('service-bus');
    await sendStatus(2, 'OrderCompleted');
    await expect(completed).resolves.toMatchObject({ seq: 2 });
  });

  it('waits for several orders at once', async () => {
    const { orderClient, send } = await application();
    const both = Promise.all([orderClient.waitForStatus('a'), orderClient.waitForStatus('b')]);
    await send(status('b', 2, 'OrderFailed'), status('a', 2, 'OrderCompleted'));
    await expect(both).resolves.toMatchObject([{ status: 'OrderCompleted' }, { status: 'OrderFailed' }]);
  });

  it('leaves on the queue what a loop has taken and not finished when the client is closed', async () => {
    const app = await application();
    const { orderClient, send } = app;
    await send(status('a', 1, 'OrderReceived'), status('a', 2, 'OrderCompleted'));
    const seen: number[] = [];
    for await (const { seq } of orderClient.statuses()) {
      seen.push(seq);
      if (seq === 2) break;
    }
    await orderClient.close();
    expect(seen).toEqual([1, 2]);
    expect(await left(app)).toMatchObject([{ seq: 2 }]);
  });

  it('ends its waits when it is closed, and is of no use afterwards', async () => {
    const { orderClient } = await application();
    const waiting = expect(orderClient.waitForStatus('a')).rejects.toThrow(ClientClosedError);
    await orderClient.close();
    await waiting;
    await expect(orderClient.submitOrder(exampleOrder('a'))).rejects.toThrow(ClientClosedError);
    expect(() => orderClient.subscribe(() => undefined)).toThrow(ClientClosedError);
  });
});
