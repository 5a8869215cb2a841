import { app as durableApp } from 'durable-functions';
import { agentRequestQueueName } from '../contracts/identifiers.js';
import { agentActivityInputSchema } from '../contracts/agent-activity.js';
import type { ReceivedReply } from '../contracts/agent-reply.js';
import { onRequestQueue } from '../on-queue.js';
import { activityRequest, agentDeps, clock, services } from '../services.js';
import { serveRequest } from './agent.js';
import type { Agent } from './agent.js';
import { inventoryAgent } from './inventory-agent.js';
import { invoiceAgent } from './invoice-agent.js';
import { paymentAgent } from './payment-agent.js';
import { serveMessage } from './serve-message.js';
import { shippingAgent } from './shipping-agent.js';

type RemoteSetting = Parameters<typeof agentDeps>[1];

/** An agent behind a request and a reply queue (R93). */
function registerQueueAgent(agent: Agent, remote: RemoteSetting): void {
  onRequestQueue(`${agent.name}-agent`, agentRequestQueueName(agent.name), (message, context) => {
    const { sender, answered } = services();
    return serveMessage(agent, message, { ...agentDeps(context, remote), sender, answered });
  });
}

/** An agent as an activity of this app (R93). It gets ids only and builds its request itself. */
function registerActivityAgent(agent: Agent, remote: RemoteSetting): void {
  durableApp.activity(agent.name, {
    handler: async (input, context) => {
      const request = await activityRequest(agentActivityInputSchema.parse(input));
      if (request === undefined) return null;
      // The runtime repeats an activity after a crash, and does not say so.
      const reply = await serveRequest(agent, { request, isRepeat: true }, agentDeps(context, remote));
      return reply === undefined ? null : ({ ...reply, receivedAt: clock.now() } satisfies ReceivedReply);
    },
  });
}

registerQueueAgent(paymentAgent, 'PAYMENT_URL');
registerActivityAgent(inventoryAgent, 'INVENTORY_URL');
registerQueueAgent(shippingAgent, 'SHIPPING_URL');
registerActivityAgent(invoiceAgent, 'INVOICE_URL');
