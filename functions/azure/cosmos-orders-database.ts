import type { Database } from '@azure/cosmos';
import { orderSchema } from '../contracts/order.js';
import type { Order } from '../contracts/order.js';
import { PermanentError } from '../state/errors.js';
import type { OrdersDatabase } from '../state/ports.js';
import { cosmosError, statusCodeOf } from './errors.js';
import { readItem } from './read-item.js';
import { createRecentMap } from './recent-map.js';

const containerName = 'orders';

/** The order under a property of its own: no field of it can have a meaning to the store (C25). */
interface OrderDocument {
  readonly id: string;
  readonly order: Order;
  /** Seconds after which the service deletes the document: an order holds personal data and a payment token. */
  readonly ttl: number;
}

/** Settings of the orders database. */
export interface OrdersDatabaseOptions {
  /** How long an order is kept; longer than anything may still be done for it. */
  readonly retentionDays: number;
  readonly rememberedOrders?: number;
}

const secondsPerDay = 86_400;

/** The orders database over the Cosmos DB container `orders`. An order never changes, so recent ones are remembered. */
export function createCosmosOrdersDatabase(
  database: Database,
  { retentionDays, rememberedOrders = 2_000 }: OrdersDatabaseOptions,
): OrdersDatabase {
  const container = database.container(containerName);
  const recent = createRecentMap<Order>(rememberedOrders);

  const read = async (orderId: string): Promise<Order | undefined> => {
    const document = await readItem<OrderDocument>(container, orderId, orderId);
    return document === undefined ? undefined : recent.set(orderId, storedOrder(document));
  };

  return {
    createIfAbsent: async (order) => {
      try {
        await container.items.create<OrderDocument>({ id: order.orderId, order, ttl: retentionDays * secondsPerDay });
        return { created: true, stored: recent.set(order.orderId, order) };
      } catch (error) {
        if (statusCodeOf(error) !== 409) throw cosmosError(error);
        const stored = await read(order.orderId);
        if (stored === undefined) throw cosmosError(error);
        return { created: false, stored };
      }
    },
    get: async (orderId) => recent.get(orderId) ?? (await read(orderId)),
  };
}

function storedOrder(document: OrderDocument): Order {
  const parsed = orderSchema.safeParse(document.order);
  if (parsed.success && parsed.data.orderId === document.id) return parsed.data;
  throw new PermanentError('MalformedOrder', `the stored order ${document.id} does not fit the contract`);
}
