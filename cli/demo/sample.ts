/** The orders of the demo: what each is to show, and how it must end. */
import type { OrderDraft, StatusKind } from '../../client/index.js';
import { exampleOrder } from '../orders/example-order.js';

/** How an order must end. */
export interface Expectation {
  readonly endsAs: 'Processed' | 'Compensated';
  readonly status: StatusKind;
  /** Attempts at least; a fault may cost more. */
  readonly attempts: number;
  /** Effects at remote services, and how many of them are undone again. */
  readonly effects: number;
  readonly undone: number;
}

/** One order of the demo. */
export interface SampleOrder {
  readonly draft: OrderDraft;
  readonly story: string;
  readonly expected: Expectation;
}

const processed: Expectation = { endsAs: 'Processed', status: 'OrderCompleted', attempts: 1, effects: 3, undone: 0 };
const compensated: Expectation = { ...processed, endsAs: 'Compensated', status: 'OrderFailed' };

/** An order that the demo sends more than once. */
export const sentTwice = 'sent-twice';

/** The sample. */
export const sampleOrders: readonly SampleOrder[] = [
  { draft: exampleOrder('good-1'), story: 'all goes well', expected: processed },
  { draft: exampleOrder('good-2'), story: 'all goes well', expected: processed },
  {
    draft: exampleOrder('agent-dies', { paymentToken: 'tok_hang_once' }),
    story: 'no reply from the payment agent: the timer wins, the supervisor recovers, a second attempt succeeds',
    expected: { ...processed, attempts: 2 },
  },
  {
    draft: exampleOrder('card-declined', { paymentToken: 'tok_declined' }),
    story: 'the payment is refused before anything was done',
    expected: { ...compensated, effects: 0 },
  },
  {
    draft: exampleOrder('no-carrier', { postalCode: 'NO-CARRIER' }),
    story: 'the carrier refuses after payment and inventory were done: both are undone, in reverse order',
    expected: { ...compensated, effects: 2, undone: 2 },
  },
  {
    draft: exampleOrder(sentTwice),
    story: 'the same order three times: the broker drops one repeat, the app recognises the other',
    expected: processed,
  },
];

/** An order that breaks the contract, as an application without our client may send it. */
export const invalidOrder = { ...exampleOrder('invalid'), schemaVersion: 1, application: 'web-shop', currency: 'euro' };
export const invalidOrderStory = 'no valid order: refused at the door, with a reason';

/** Further good orders, on request. */
export function furtherOrders(count: number): readonly SampleOrder[] {
  return Array.from({ length: count }, (_, index) => ({
    draft: exampleOrder(`further-${index + 1}`),
    story: 'all goes well',
    expected: processed,
  }));
}

/** The ids of orders. */
export function idsOf(orders: readonly SampleOrder[]): readonly string[] {
  return orders.map(({ draft }) => draft.orderId);
}
