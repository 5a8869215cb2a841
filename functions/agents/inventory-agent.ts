import type { Agent } from './agent.js';

/** Reserves the goods of an order, or releases them. */
export const inventoryAgent: Agent = {
  name: 'inventory',
  toRemoteCall: ({ action, orderId, payload }) => ({
    operation: action === 'do' ? 'reservations' : 'releases',
    body: { ...payload, orderId },
  }),
};
