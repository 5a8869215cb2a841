import { app } from '@azure/functions';
import { input } from 'durable-functions';
import { receive } from '../azure/service-bus-trigger.js';
import { agentReplyQueueName } from '../contracts/identifiers.js';
import { replyDeps, triggerDeps } from '../services.js';
import { handleReply } from './handle-reply.js';

/** One reply queue an agent: only that agent's identity may send to it (T25). */
function registerReplyQueue(agent: string): void {
  const queue = agentReplyQueueName(agent);
  app.serviceBusQueue(`agent-reply-${agent}`, {
    queueName: queue,
    connection: 'ServiceBusConnection',
    extraInputs: [input.durableClient()],
    handler: (body, context) =>
      receive({ queue, body, context }, (message) => handleReply(message, replyDeps(context)), triggerDeps(context)),
  });
}

registerReplyQueue('payment');
registerReplyQueue('shipping');
