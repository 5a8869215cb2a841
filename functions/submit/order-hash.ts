import { createHash } from 'node:crypto';
import { canonicalOrder } from '../contracts/order.js';
import type { Order } from '../contracts/order.js';

/** Hexadecimal SHA-256 of the canonical order: equal for equal orders (T46). */
export function orderHash(order: Order): string {
  return createHash('sha256').update(canonicalOrder(order)).digest('hex');
}
