/** An order to try things with; the values that steer the simulated remote services are listed in the project's README. */
import type { OrderDraft } from '../../client/index.js';

/** The application that commands speak for unless told otherwise; one of those in infra/topology.json. */
export const defaultApplication = 'web-shop';

/** What an example can be given; everything has a default that every remote service accepts. */
export interface ExampleValues {
  readonly paymentToken?: string;
  readonly sku?: string;
  readonly postalCode?: string;
  readonly priority?: 'normal' | 'high';
}

/** An order with this id. */
export function exampleOrder(orderId: string, values: ExampleValues = {}): OrderDraft {
  const { paymentToken = 'tok_ok', sku = 'BOOK', postalCode = '10115', priority = 'normal' } = values;
  return {
    orderId,
    priority,
    customerId: 'customer-1',
    currency: 'EUR',
    lines: [
      { sku, quantity: 1, unitPriceMinor: 2_490 },
      { sku: 'PEN', quantity: 3, unitPriceMinor: 150 },
    ],
    shippingAddress: { name: 'A. Reader', line1: 'Main Street 1', city: 'Berlin', postalCode, country: 'DE' },
    paymentToken,
  };
}
