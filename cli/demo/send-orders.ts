/** Sends the orders of the demo, with the client an application would use; the faulty ones past it. */
import type { ServiceBusClient } from '@azure/service-bus';
import { isFinal } from '../../client/index.js';
import type { OrderClient } from '../../client/index.js';
import { eachAtOnce } from '../each-at-once.js';
import { invalidOrder, sampleOrders, sentTwice } from './sample.js';
import type { SampleOrder } from './sample.js';

/** Sends the sample, the repeats and the invalid order. */
export async function sendSample(client: OrderClient, serviceBus: ServiceBusClient): Promise<void> {
  for (const { draft } of sampleOrders) await client.submitOrder(draft);
  const repeated = sampleOrders.find(({ draft }) => draft.orderId === sentTwice);
  const sender = serviceBus.createSender('orders');
  if (repeated !== undefined) {
    const { messageId } = await client.submitOrder(repeated.draft); // The broker drops this one.
    const body = { ...repeated.draft, schemaVersion: 1, application: 'web-shop' };
    await sender.sendMessages({ messageId: `${messageId}.again`, contentType: 'application/json', body }); // Submit recognises this one.
  }
  await sender.sendMessages({ messageId: 'invalid', contentType: 'application/json', body: invalidOrder });
  await sender.close();
}

/** So many further orders are under way at once: more would only wait in the queue. */
const underWayAtOnce = 64;
const endLimitMs = 60_000;

/** Sends further orders and waits for the end of each, so many at once. */
export async function sendFurther(
  client: OrderClient,
  orders: readonly SampleOrder[],
  onEnd: () => void,
): Promise<void> {
  await eachAtOnce(orders, underWayAtOnce, async ({ draft }) => {
    const { orderId } = await client.submitOrder(draft);
    const status = await client.waitForStatus(orderId, { timeoutMs: endLimitMs });
    if (isFinal(status)) onEnd();
  });
}
