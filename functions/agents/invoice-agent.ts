import type { Agent } from './agent.js';

/** Sends the invoice of an order, or credits it. */
export const invoiceAgent: Agent = {
  name: 'invoice',
  toRemoteCall: ({ action, orderId, payload }) =>
    action === 'do'
      ? { operation: 'invoices', body: { orderId, ...payload } }
      : { operation: 'credit-notes', body: { orderId } },
};
