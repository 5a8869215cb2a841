import { orderRecordSchema } from '../../cli/orders/order-record.js';
import type { OrderRecord } from '../../cli/orders/order-record.js';
import { aRecord } from './builders.js';

/** A record as the command line reads it from the app's. */
export function orderRecord(overrides: Partial<OrderRecord> = {}): OrderRecord {
  return orderRecordSchema.parse({ ...aRecord(), orderId: 'a', ...overrides });
}
