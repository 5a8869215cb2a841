import { app } from '@azure/functions';
import { input } from 'durable-functions';
import { receive } from '../azure/service-bus-trigger.js';
import { submitDeps, triggerDeps } from '../services.js';
import { submitOrder } from './submit-order.js';

const queue = 'orders';

app.serviceBusQueue('submit', {
  queueName: queue,
  connection: 'ServiceBusConnection',
  extraInputs: [input.durableClient()],
  handler: (body, context) =>
    receive(
      { queue, body, context },
      async (message) => {
        const traceparent = traceparentOf(message.applicationProperties);
        const outcome = await submitOrder({ ...message, traceparent }, submitDeps(context));
        return outcome.kind === 'rejected' ? outcome.rejection : undefined;
      },
      triggerDeps(context),
    ),
});

/** The sender's trace context: the diagnostic id of the Azure SDKs, or the W3C name. */
function traceparentOf(properties: Readonly<Record<string, unknown>>): string | null {
  const traceparent = properties['diagnostic-Id'] ?? properties['traceparent'];
  return typeof traceparent === 'string' && /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/.test(traceparent)
    ? traceparent
    : null;
}
