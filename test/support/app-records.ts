/** Documents that a test puts into the app's containers itself: what an older build, a crash or a strange hand left there. */
import type { StateRecord } from '../../functions/state/state-record.js';
import type { App } from './app-stack.js';
import { aRecord, anOrder } from './builders.js';

/** The time of a record that has waited for a while. */
export const aMinuteAgo = (): string => new Date(Date.now() - 60_000).toISOString();

/** The record of an order that is a minute old. */
export function oldRecord(orderId: string, overrides: Partial<StateRecord> = {}): StateRecord {
  const record = aRecord({ orderId }, aMinuteAgo());
  return { ...record, id: orderId, expiresAt: new Date(Date.now() + 3_600_000).toISOString(), ...overrides };
}

/** Stores an order and a document as its record, whatever its form. */
export async function plant(app: App, orderId: string, record: object): Promise<void> {
  const order = anOrder({ orderId });
  await app.database.container('orders').items.create({ id: orderId, order });
  await app.database.container('order-state').items.create(record);
}

/** The stored state document with all its fields, as nobody has interpreted it. */
export async function storedDocument(
  app: App,
  container: 'orders' | 'order-state',
  orderId: string,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const { resource } = await app.database.container(container).item(orderId, orderId).read<Record<string, unknown>>();
  return resource;
}
