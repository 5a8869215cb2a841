import { expect, it } from 'vitest';
import { createOrderClient } from '../../client/index.js';
import { startStack } from '../../local/stack.js';
import { anOrder } from '../support/builders.js';

it('the host runs the app on a broker and a Cosmos DB that run elsewhere', async () => {
  const elsewhere = await startStack({ host: false });
  const { connectionString, cosmosEndpoint, cosmosKey } = elsewhere;
  const stack = await startStack({ external: { connectionString, cosmosEndpoint, cosmosKey } });
  const client = createOrderClient({ serviceBus: connectionString, application: 'web-shop' });
  try {
    const order = anOrder();
    await client.submitOrder(order);
    const end = await client.waitForStatus(order.orderId, { timeoutMs: 20_000 });
    expect(end.status).toBe('OrderCompleted');
  } finally {
    await client.close();
    await stack.stop();
    await elsewhere.stop();
  }
});
