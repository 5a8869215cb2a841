import type { Agent } from './agent.js';

/** Hands an order to the carrier, or cancels the shipment. */
export const shippingAgent: Agent = {
  name: 'shipping',
  toRemoteCall: ({ action, orderId, payload }) => ({
    operation: action === 'do' ? 'shipments' : 'cancellations',
    body: { ...payload, orderId },
  }),
};
