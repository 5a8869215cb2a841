import type { Agent } from './agent.js';

/** Sends the invoice of an order, or credits it. */
export const invoiceAgent: Agent = {
  name: 'invoice',
  toRemoteCall: ({ action, orderId, payload }) => ({
    operation: action === 'do' ? 'invoices' : 'credit-notes',
    body: { ...payload, orderId },
  }),
};
