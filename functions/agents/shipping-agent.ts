import type { Agent } from './agent.js';

/** Hands an order to the carrier, or cancels the shipment. */
export const shippingAgent: Agent = {
  name: 'shipping',
  toRemoteCall: ({ action, orderId, payload }) =>
    action === 'do'
      ? { operation: 'shipments', body: { orderId, ...payload } }
      : { operation: 'cancellations', body: { orderId } },
};
