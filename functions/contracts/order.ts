/**
 * The order as an application sends it to the queue `orders`.
 *
 * Fields the contract does not name are dropped here, so a sender can set no field of our own records (C25).
 */
import { z } from 'zod';
import { applicationSchema, orderIdSchema } from './identifiers.js';
import { parseMessage } from './parse-message.js';
import type { Parsed } from './rejection.js';

const orderSchemaVersion = 1;

const text = (maxLength: number): z.ZodString => z.string().min(1).max(maxLength);

/** Money is an integer count of minor units (cents, yen): no float ever decides an amount (C29). */
const minorUnitsSchema = z.int().min(0).max(1_000_000_000);

const orderLineSchema = z.object({
  sku: text(64),
  quantity: z.int().min(1).max(10_000),
  unitPriceMinor: minorUnitsSchema,
});

const addressSchema = z.object({
  name: text(200),
  line1: text(200),
  line2: text(200).optional(),
  city: text(100),
  postalCode: text(20),
  country: z.string().regex(/^[A-Z]{2}$/, 'expected a two-letter country code'),
});

/** The order, as validated and normalised. */
export const orderSchema = z.object({
  schemaVersion: z.literal(orderSchemaVersion),
  orderId: orderIdSchema,
  application: applicationSchema,
  priority: z.enum(['normal', 'high']).default('normal'),
  customerId: text(64),
  currency: z.string().regex(/^[A-Z]{3}$/, 'expected a three-letter currency code'),
  lines: z.array(orderLineSchema).min(1).max(200),
  shippingAddress: addressSchema,
  paymentToken: text(128),
});

export type Order = z.infer<typeof orderSchema>;

/** Reads an order message. Each refusal names the wrong fields and the reason code (R75, C5, C17, C21). */
export function parseOrder(body: unknown): Parsed<Order> {
  return parseMessage(orderSchema, body, (isWrong) => (isWrong('orderId') ? 'InvalidOrderId' : 'InvalidOrder'));
}

/** The amount to pay, in minor units. */
export function orderTotalMinor(order: Order): number {
  return order.lines.reduce((sum, line) => sum + line.quantity * line.unitPriceMinor, 0);
}

/** The order as text that is equal for equal orders, whatever the key order or defaults of the message (T46). */
export function canonicalOrder(order: Order): string {
  return canonicalJson(order);
}

/** Names of the top-level fields in which two orders differ; never their values (C7). */
export function differingFields(stored: Order, received: Order): readonly string[] {
  const fields = Object.keys(orderSchema.shape) as (keyof Order)[];
  return fields.filter((field) => canonicalJson(stored[field]) !== canonicalJson(received[field]));
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
