import { hintQueueName } from '../contracts/supervisor-hint.js';
import { addMs } from '../contracts/timestamp.js';
import type { QueueSender } from '../state/ports.js';
import type { HintInput } from './attempt-messages.js';

/** Asks the supervisor to look at the order as soon as its deadline and the grace have passed. */
export async function hintSupervisor(input: HintInput, sender: QueueSender, graceMs: number): Promise<void> {
  await sender.send(hintQueueName, {
    messageId: `${input.requestId}.expired`,
    body: { schemaVersion: 1, orderId: input.orderId },
    notBefore: addMs(input.completeBy, graceMs),
  });
}
