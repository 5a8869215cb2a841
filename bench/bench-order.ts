import type { Order } from '../functions/contracts/order.js';

/** The application that the bench plays. */
export const benchApplication = 'web-shop';

/** A good order. */
export function benchOrder(orderId: string): Order {
  return {
    schemaVersion: 1,
    orderId,
    application: benchApplication,
    priority: 'normal',
    customerId: 'customer-1',
    currency: 'EUR',
    lines: [{ sku: 'book', quantity: 2, unitPriceMinor: 1999 }],
    shippingAddress: {
      name: 'A. Reader',
      line1: 'Main Street 1',
      city: 'Springfield',
      postalCode: '12345',
      country: 'US',
    },
    paymentToken: 'tok_visa',
  };
}
