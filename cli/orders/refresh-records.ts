/** Reads the records of many orders, a few at a time. */
import { eachAtOnce } from '../each-at-once.js';
import type { OrderApi } from './order-api.js';
import type { OrderRecord } from './order-record.js';

const atOnce = 8;

/** Reads each order's record and hands over those that exist. */
export async function refreshRecords(
  api: Pick<OrderApi, 'find'>,
  orderIds: readonly string[],
  take: (record: OrderRecord) => void,
): Promise<void> {
  await eachAtOnce(orderIds, atOnce, async (orderId) => {
    const record = await api.find(orderId);
    if (record !== undefined) take(record);
  });
}
