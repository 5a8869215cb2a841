/**
 * The floor beside which the app's figures stand: the same calls of the same SDK clients on the same embedded stack, in
 * one bare loop, without functions, orchestrations, rules or waiting.
 */
import { CosmosClient } from '@azure/cosmos';
import type { Container } from '@azure/cosmos';
import { ServiceBusClient } from '@azure/service-bus';
import type { ServiceBusReceiver, ServiceBusSender } from '@azure/service-bus';
import type { Stack } from '../local/stack.js';
import { runClosedLoop } from './closed-loop.js';
import type { LoopResult } from './closed-loop.js';

const queue = 'status-mobile-app';
const messagesPerOrder = 7;
const replacesPerOrder = 6;

/** Measures the floor at one load level. */
export async function measureFloor(stack: Stack, inFlight: number, seconds: number): Promise<LoopResult> {
  const cosmos = new CosmosClient({ endpoint: stack.cosmosEndpoint, key: stack.cosmosKey });
  const container = cosmos.database('order-processing').container('control');
  const client = new ServiceBusClient(stack.connectionString);
  const sender = client.createSender(queue);
  const arrived = new Map<string, () => void>();
  const receiver = client.createReceiver(queue);
  subscribe(receiver, arrived);
  const loop = await runClosedLoop(inFlight, seconds, async (number) => {
    const id = `floor-${inFlight}-${number}`;
    await cosmosCalls(container, id);
    for (let message = 1; message <= messagesPerOrder; message += 1)
      await roundTrip(sender, arrived, `${id}.${message}`);
  });
  await client.close();
  cosmos.dispose();
  return loop;
}

async function cosmosCalls(container: Container, id: string): Promise<void> {
  const document = { id, text: 'x'.repeat(1_000) };
  for (const suffix of ['order', 'payment', 'inventory', 'shipping']) {
    await container.items.create({ ...document, id: `${id}.${suffix}` });
  }
  let { etag } = await container.items.create(document);
  for (let replace = 1; replace <= replacesPerOrder; replace += 1) {
    const accessCondition = { type: 'IfMatch', condition: etag };
    ({ etag } = await container.item(id, id).replace({ ...document, replace }, { accessCondition }));
  }
}

function subscribe(receiver: ServiceBusReceiver, arrived: Map<string, () => void>): void {
  receiver.subscribe(
    {
      processMessage: (message) => {
        arrived.get(String(message.messageId))?.();
        return Promise.resolve();
      },
      processError: ({ error }) => {
        throw error;
      },
    },
    { maxConcurrentCalls: 128 },
  );
}

async function roundTrip(sender: ServiceBusSender, arrived: Map<string, () => void>, messageId: string): Promise<void> {
  const received = new Promise<void>((resolve) => {
    arrived.set(messageId, resolve);
  });
  await sender.sendMessages({ messageId, body: { text: 'x'.repeat(500) } });
  await received;
  arrived.delete(messageId);
}
