import type { Agent } from './agent.js';

/** Takes the payment of an order, or refunds it. */
export const paymentAgent: Agent = {
  name: 'payment',
  toRemoteCall: ({ action, orderId, payload }) => ({
    operation: action === 'do' ? 'charges' : 'refunds',
    body: { ...payload, orderId },
  }),
};
