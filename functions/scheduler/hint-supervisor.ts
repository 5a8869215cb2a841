import { hintQueueName } from '../contracts/supervisor-hint.js';
import { addMs } from '../contracts/timestamp.js';
import type { QueueSender } from '../state/ports.js';
import type { HintInput } from './attempt-messages.js';

/** Tells the supervisor how the attempt has ended: at once if it stopped, else when its deadline and the grace have passed. */
export async function hintSupervisor(input: HintInput, sender: QueueSender, graceMs: number): Promise<void> {
  const { orderId, requestId, completeBy, ending } = input;
  await sender.send(hintQueueName, {
    messageId: `${requestId}.expired`,
    body: { schemaVersion: 1, orderId, requestId, ending },
    ...(ending === 'timedOut' ? { notBefore: addMs(completeBy, graceMs) } : {}),
  });
}
