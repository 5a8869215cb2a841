import fc from 'fast-check';
import { ServiceBusClient } from '@azure/service-bus';
import { describe, expect, it } from 'vitest';
import { createOrderClient } from '../../client/index.js';
import type { OrderClient, OrderClientOptions, StatusKind, StatusMessage } from '../../client/index.js';
import { StatusFeed } from '../../client/status-feed.js';
import { createStatusMemory } from '../../client/status-memory.js';
import { cleanUp, startTestBroker, until } from '../support/service-bus-broker.js';
import type { TestBroker } from '../support/service-bus-broker.js';

/** Few deliveries, so that a test sees at once when a failing handler uses them up. */
const statusQueue = { name: 'status-web-shop', lockDuration: 'PT1M', maxDeliveryCount: 2 };
const queues = [{ name: 'orders' }, statusQueue];

interface Application extends TestBroker {
  readonly orderClient: OrderClient;
  readonly errors: unknown[];
}

async function application(options: Partial<OrderClientOptions> = {}): Promise<Application> {
  const broker = await startTestBroker(queues);
  const errors: unknown[] = [];
  const onError = (error: unknown): void => void errors.push(error);
  const orderClient = createOrderClient({ serviceBus: broker.client, application: 'web-shop', onError, ...options });
  cleanUp(() => orderClient.close());
  return { ...broker, orderClient, errors };
}

function status(orderId: string, seq: number, kind: StatusKind = 'OrderReceived'): StatusMessage {
  return { schemaVersion: 1, orderId, seq, status: kind, at: '2030-01-01T00:00:00.000Z' };
}

async function send({ client }: TestBroker, ...statuses: readonly StatusMessage[]): Promise<void> {
  const sender = client.createSender('status-web-shop');
  for (const body of statuses) await sender.sendMessages({ messageId: `${body.orderId}.${body.seq}`, body });
}

/** How many messages lie in the queue, locked or not, and in its dead-letter queue. */
async function counts({ broker }: TestBroker): Promise<{ readonly waiting: number; readonly dead: number }> {
  const client = new ServiceBusClient(broker.connectionString);
  const waiting = await client.createReceiver('status-web-shop').peekMessages(250);
  const dead = await client.createReceiver('status-web-shop', { subQueueType: 'deadLetter' }).peekMessages(250);
  await client.close();
  return { waiting: waiting.length, dead: dead.length };
}

async function untilEmpty(app: TestBroker): Promise<void> {
  while ((await counts(app)).waiting > 0);
}

const away = new Error('the database is away');

describe('a handler that fails', () => {
  it('is called again within one delivery, so that the status is not dead-lettered by an outage (T48)', async () => {
    const app = await application();
    let calls = 0;
    app.orderClient.subscribe(() => {
      calls += 1;
      if (calls <= 4) throw away;
    });
    await send(app, status('a', 1));
    await untilEmpty(app);
    expect(calls).toBe(5);
    expect(app.errors).toEqual([away, away, away, away]);
    expect(await counts(app)).toEqual({ waiting: 0, dead: 0 });
  });

  it('holds up the later statuses of its order and no other order', async () => {
    const app = await application();
    const handled: string[] = [];
    let isAway = true;
    app.orderClient.subscribe(({ orderId, seq }) => {
      if (orderId === 'a' && isAway) throw away;
      handled.push(`${orderId}.${seq}`);
    });
    await send(app, status('a', 1), status('a', 2), status('b', 1), status('b', 2), status('c', 1));
    await until(() => handled.length === 3);
    isAway = false;
    await untilEmpty(app);
    expect(handled).toEqual(['b.1', 'b.2', 'c.1', 'a.1', 'a.2']);
  });

  it('is called again alone; a handler beside it that has finished is not', async () => {
    const app = await application();
    const handled: string[] = [];
    app.orderClient.subscribe(({ orderId }) => void handled.push(`first ${orderId}`));
    let calls = 0;
    app.orderClient.subscribe(({ orderId }) => {
      calls += 1;
      if (calls <= 2) throw away;
      handled.push(`second ${orderId}`);
    });
    await send(app, status('a', 1));
    await untilEmpty(app);
    expect(handled).toEqual(['first a', 'second a']);
  });

  it('runs beside no more handlers than were asked for, however many statuses wait for their next try', async () => {
    const app = await application();
    let running = 0;
    let most = 0;
    const failures = new Map<string, number>();
    app.orderClient.subscribe(async ({ orderId }) => {
      most = Math.max(most, (running += 1));
      await new Promise(setImmediate);
      running -= 1;
      failures.set(orderId, (failures.get(orderId) ?? 0) + 1);
      if (failures.get(orderId) === 1) throw away;
    });
    const orderIds = Array.from({ length: 20 }, (_, index) => `order-${index}`);
    await send(app, ...orderIds.map((orderId) => status(orderId, 1)));
    await untilEmpty(app);
    expect(most).toBe(1);
    expect([...failures.values()]).toEqual(orderIds.map(() => 2));
  });

  it('gives its status back to the queue at once when the client is closed', async () => {
    const app = await application();
    app.orderClient.subscribe(() => {
      throw away;
    });
    await send(app, status('a', 1));
    await until(() => app.errors.length > 0);
    await app.orderClient.close();
    const [message] = await app.client.createReceiver('status-web-shop').receiveMessages(1);
    expect(message).toMatchObject({ body: { orderId: 'a' }, deliveryCount: 1 });
  });

  it('does not end the feed when the function that is told of errors throws, too', async () => {
    let told = 0;
    const app = await application({
      onError() {
        told += 1;
        throw new Error('the log is full');
      },
    });
    let calls = 0;
    app.orderClient.subscribe(() => {
      calls += 1;
      if (calls === 1) throw away;
    });
    await send(app, status('a', 1));
    await untilEmpty(app);
    expect(told).toBe(1);
    expect(calls).toBe(2);
  });
});

/** A feed whose pauses are noted, and pass at once unless told otherwise. */
async function feedWithoutPauses(pass: () => Promise<unknown> = () => new Promise(setImmediate)) {
  const broker = await startTestBroker(queues);
  const pauses: number[] = [];
  const failures: unknown[] = [];
  const feed = new StatusFeed({
    client: broker.client,
    application: 'web-shop',
    memory: createStatusMemory(1_000),
    maxConcurrent: 1,
    onError: (error) => failures.push(error),
    async pause(milliseconds) {
      pauses.push(milliseconds);
      await pass();
    },
  });
  cleanUp(() => feed.close());
  return { ...broker, feed, pauses, failures };
}

describe('a feed of statuses', () => {
  it('waits longer from try to try, and gives a status back to the queue after ten minutes', async () => {
    const { feed, pauses, failures, ...broker } = await feedWithoutPauses();
    feed.subscribe(() => {
      throw away;
    });
    await send(broker, status('a', 1));
    while ((await counts(broker)).dead === 0);
    const heldMs = pauses.reduce((sum, each) => sum + each, 0);
    expect(pauses.slice(0, 11)).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 30_000, 30_000]);
    expect(heldMs).toBeGreaterThan(2 * 600_000); // Both deliveries that the queue allows.
    expect(heldMs).toBeLessThan(2 * 640_000);
    expect(failures.length).toBe(pauses.length);
  });

  it('holds at most so many messages that wait, and handles all of them in the end', async () => {
    let endPauses = (): void => undefined;
    const allPausesEnd = new Promise<void>((resolve) => (endPauses = resolve));
    const { feed, pauses, ...broker } = await feedWithoutPauses(() => allPausesEnd);
    let isAway = true;
    const handled = new Set<string>();
    feed.subscribe(({ orderId }) => {
      if (isAway) throw away;
      handled.add(orderId);
    });
    const orderIds = Array.from({ length: 120 }, (_, index) => `order-${index}`);
    await send(broker, ...orderIds.map((orderId) => status(orderId, 1)));
    await until(() => pauses.length >= 100);
    expect(await counts(broker)).toEqual({ waiting: 120, dead: 0 });
    expect(pauses.length).toBe(100);
    isAway = false;
    endPauses();
    await until(() => handled.size === orderIds.length);
    await untilEmpty(broker);
  });

  it('keeps the order of each order’s statuses, whichever calls fail', async () => {
    const orders = fc.array(fc.record({ seqs: fc.integer({ min: 1, max: 3 }), failures: fc.array(fc.boolean()) }), {
      minLength: 1,
      maxLength: 4,
    });
    const { feed, ...broker } = await feedWithoutPauses();
    const plan = new Map<string, boolean[]>();
    const handled: string[] = [];
    feed.subscribe(({ orderId, seq }) => {
      if (plan.get(orderId)?.shift() === true) throw away;
      handled.push(`${orderId}.${seq}`);
    });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(orders, async (given) => {
        run += 1;
        handled.length = 0;
        const idOf = (index: number): string => `run-${run}-${index}`;
        given.forEach(({ failures }, index) => plan.set(idOf(index), [...failures]));
        const statuses = given.flatMap(({ seqs }, index) =>
          Array.from({ length: seqs }, (_, earlier) => status(idOf(index), earlier + 1)),
        );
        await send(broker, ...statuses);
        await until(() => handled.length >= statuses.length);
        for (const index of given.keys()) {
          const ofOrder = handled.filter((each) => each.startsWith(`${idOf(index)}.`));
          expect(ofOrder).toEqual(ofOrder.map((_, earlier) => `${idOf(index)}.${earlier + 1}`));
        }
        expect(handled).toHaveLength(statuses.length);
      }),
      { numRuns: 20 },
    );
  });
});
