import { onQueue } from '../on-queue.js';
import { submitDeps } from '../services.js';
import { submitOrder } from './submit-order.js';

onQueue('submit', 'orders', async (message, context) => {
  const traceparent = traceparentOf(message.applicationProperties);
  const outcome = await submitOrder({ ...message, traceparent }, submitDeps(context));
  return outcome.kind === 'rejected' ? outcome.rejection : undefined;
});

/** The sender's trace context: the diagnostic id of the Azure SDKs, or the W3C name. */
function traceparentOf(properties: Readonly<Record<string, unknown>>): string | null {
  const traceparent = properties['diagnostic-Id'] ?? properties['traceparent'];
  return typeof traceparent === 'string' && /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/.test(traceparent)
    ? traceparent
    : null;
}
