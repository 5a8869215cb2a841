import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { CosmosClient, type Container } from '@azure/cosmos';
import { ServiceBusClient } from '@azure/service-bus';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startStack, type Stack } from '../../local/stack.js';

const appDirectory = join(import.meta.dirname, '../fixtures/stack-app');

interface Session {
  readonly stack: Stack;
  readonly bus: ServiceBusClient;
  readonly orders: Container;
}

async function openSession(greeting?: string): Promise<Session> {
  const stack = await startStack({
    appDirectory,
    settings: greeting === undefined ? {} : { GREETING: greeting },
  });
  const cosmos = new CosmosClient({ endpoint: stack.cosmosEndpoint, key: stack.cosmosKey });
  return {
    stack,
    bus: new ServiceBusClient(stack.connectionString),
    orders: cosmos.database('order-processing').container('orders'),
  };
}

async function closeSession({ stack, bus }: Session): Promise<void> {
  await bus.close();
  await stack.stop();
}

async function sendOrder({ bus }: Session, orderId: string): Promise<void> {
  const sender = bus.createSender('orders');
  await sender.sendMessages({ body: { orderId }, messageId: orderId });
  await sender.close();
}

/** Waits for the status message of an order and checks that its item is stored. */
async function expectProcessed({ bus, orders }: Session, orderId: string, greeting: string): Promise<void> {
  const receiver = bus.createReceiver('status-web-shop', { receiveMode: 'receiveAndDelete' });
  const [message] = await receiver.receiveMessages(1, { maxWaitTimeInMs: 20_000 });
  await receiver.close();
  expect(message?.body).toEqual({ orderId, greeting });
  const { resource } = await orders.item(orderId, orderId).read<{ id: string }>();
  expect(resource?.id).toBe(orderId);
}

/** Addresses of this machine other than 127.0.0.1; on Linux all of 127.0.0.0/8 is the machine itself. */
function otherAddresses(): string[] {
  const known = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses);
  const reachable = known.filter(({ scopeid }) => scopeid === undefined || scopeid === 0).map(({ address }) => address);
  return [...(process.platform === 'linux' ? ['127.0.0.2'] : []), ...reachable].filter((one) => one !== '127.0.0.1');
}

async function isOpen(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

describe('the local stack', () => {
  let session: Session;

  beforeAll(async () => {
    process.env['SHELL_SETTING'] = 'of the shell';
    session = await openSession();
    delete process.env['SHELL_SETTING'];
  });
  afterAll(() => closeSession(session));

  it('runs an app on Service Bus, Cosmos DB and the Functions host', async () => {
    await sendOrder(session, 'order-1');
    await expectProcessed(session, 'order-1', 'from the sample');
  });

  it('gives the app its settings with live addresses, and nothing of the shell', async () => {
    const { hostUrl } = session.stack;
    const response = await fetch(`${hostUrl}/api/settings`);
    expect(await response.json()).toEqual({
      GREETING: 'from the sample',
      SELF_URL: `${hostUrl}/api/settings`,
      WEBSITE_HOSTNAME: new URL(hostUrl).host,
      AzureWebJobsStorage: 'UseDevelopmentStorage=true',
    });
  });

  it('listens on 127.0.0.1 alone', async () => {
    const { connectionString, cosmosEndpoint, hostUrl } = session.stack;
    const endpoint = /Endpoint=sb:([^;]*)/.exec(connectionString)?.[1] ?? '';
    const ports = [`http:${endpoint}`, cosmosEndpoint, hostUrl].map((url) => Number(new URL(url).port));
    for (const port of ports) {
      expect(await isOpen('127.0.0.1', port)).toBe(true);
      for (const address of otherAddresses()) expect(await isOpen(address, port), `${address}:${port}`).toBe(false);
    }
  });

  it('works beside a second stack on the same machine, without a common message (C78)', async () => {
    const second = await openSession('from the second');
    try {
      expect(second.stack.dataDirectory).not.toBe(session.stack.dataDirectory);
      await sendOrder(second, 'order-2');
      await sendOrder(session, 'order-3');
      await expectProcessed(second, 'order-2', 'from the second');
      await expectProcessed(session, 'order-3', 'from the sample');
    } finally {
      await closeSession(second);
    }
    expect(existsSync(second.stack.dataDirectory)).toBe(false);
  });

  it.each(['service-bus', 'cosmos-db', 'functions-host'] as const)(
    'goes on after %s was killed and restarted, on the same address with the same data',
    async (part) => {
      const { stack, orders } = session;
      const orderId = `after-${part}`;
      await orders.items.upsert({ id: `before-${part}` });
      const pid = stack.pid(part);
      await stack.kill(part);
      await stack.restart(part);
      expect(stack.pid(part)).not.toBe(pid);
      await sendOrder(session, orderId);
      await expectProcessed(session, orderId, 'from the sample');
      expect((await orders.item(`before-${part}`, `before-${part}`).read()).statusCode).toBe(200);
    },
  );

  it('keeps an order while the Functions host is down', async () => {
    await session.stack.kill('functions-host');
    await sendOrder(session, 'order-kept');
    await session.stack.restart('functions-host');
    await expectProcessed(session, 'order-kept', 'from the sample');
  });

  it('injects faults from outside, and counts them', async () => {
    const rule = { operation: 'upsert', entity: 'orders', action: 'refuse', error: '503', times: 1 } as const;
    await session.stack.setFaults('cosmos-db', { seed: 1, rules: [rule] });
    await sendOrder(session, 'order-refused-once');
    await expectProcessed(session, 'order-refused-once', 'from the sample');
    const counters = await session.stack.counters('cosmos-db');
    expect(Object.entries(counters).filter(([name]) => name.endsWith('upsert/orders/refuse'))).toHaveLength(1);
    await session.stack.setFaults('cosmos-db');
  });
});
