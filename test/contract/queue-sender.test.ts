import type { ServiceBusClient } from '@azure/service-bus';
import { createQueueSender } from '../../functions/azure/service-bus-sender.js';
import { PermanentError } from '../../functions/state/errors.js';
import { serviceBusTargets } from '../support/contract-targets.js';
import type { Opened } from '../support/contract-targets.js';
import { createRecordingSender } from '../support/recording.js';
import { queueSenderContract } from './queue-sender-contract.js';
import type { Arrived, SenderUnderTest } from './queue-sender-contract.js';

function inMemory(): Promise<SenderUnderTest> {
  const sender = createRecordingSender();
  sender.fail('transient', (queue) => queue.includes('no-such'));
  const taken = new Set<string>();
  return Promise.resolve({
    sender: {
      send: (queue, message) =>
        JSON.stringify(message.body).length > 256 * 1024
          ? Promise.reject(new PermanentError('MessageSizeExceeded', 'too large'))
          : sender.send(queue, message),
    },
    arrived: (queue, messageIds) => {
      const isNew = (messageId: string): boolean => messageIds.includes(messageId) && !taken.has(queue + messageId);
      const found = sender
        .queued(queue)
        .filter(({ messageId, notBefore }) => isNew(messageId) && notBefore === undefined);
      for (const { messageId } of found) taken.add(queue + messageId);
      return Promise.resolve(
        found.map(({ messageId, body, correlationId, applicationProperties, timeToLiveMs }) => ({
          messageId,
          body,
          correlationId,
          applicationProperties: applicationProperties ?? {},
          timeToLiveMs: timeToLiveMs ?? Infinity,
        })),
      );
    },
    scheduled: (queue, messageId) => Promise.resolve(sender.queued(queue).some((sent) => sent.messageId === messageId)),
    close: () => Promise.resolve(),
  });
}

const silenceMs = 150;

async function overServiceBus(open: () => Promise<Opened<ServiceBusClient>>): Promise<SenderUnderTest> {
  const { service, close } = await open();
  return {
    sender: createQueueSender(() => service),
    arrived: async (queue, messageIds) => {
      const receiver = service.createReceiver(queue, { receiveMode: 'receiveAndDelete' });
      const found: Arrived[] = [];
      for (;;) {
        const batch = await receiver.receiveMessages(10, { maxWaitTimeInMs: silenceMs });
        if (batch.length === 0) break;
        for (const { messageId, body, correlationId, applicationProperties, timeToLive } of batch) {
          if (!messageIds.includes(String(messageId))) continue;
          found.push({
            messageId: String(messageId),
            body: body as unknown,
            correlationId: correlationId === undefined ? undefined : String(correlationId),
            applicationProperties: applicationProperties ?? {},
            timeToLiveMs: timeToLive,
          });
        }
      }
      await receiver.close();
      return found;
    },
    scheduled: async (queue, messageId) => {
      const receiver = service.createReceiver(queue);
      const peeked = await receiver.peekMessages(100);
      await receiver.close();
      return peeked.some((message) => message.messageId === messageId && message.state === 'scheduled');
    },
    close,
  };
}

queueSenderContract('memory', inMemory);
for (const { name, open } of serviceBusTargets()) queueSenderContract(name, () => overServiceBus(open));
