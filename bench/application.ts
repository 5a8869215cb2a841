/** The application of the bench: sends orders over Service Bus and learns from its status queue when they are done. */
import diagnosticsChannel from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { ServiceBusClient } from '@azure/service-bus';
import { statusMessageSchema } from '../functions/contracts/status-message.js';
import { benchApplication, benchOrder } from './bench-order.js';

/** A running application. */
export interface BenchApplication {
  /** Sends an order and resolves when its terminal status has arrived. */
  process(orderId: string): Promise<void>;
  /** Sends an order without waiting. */
  send(orderId: string): Promise<void>;
  /** Resolves when the terminal status of an order has arrived. */
  whenDone(orderId: string): Promise<void>;
  close(): Promise<void>;
}

const terminalStatuses: readonly string[] = ['OrderCompleted', 'OrderFailed'];

diagnosticsChannel.subscribe('net.client.socket', (message) => {
  (message as { socket: Socket }).socket.setNoDelay(true);
});

/** Connects to the broker. */
export function startApplication(connectionString: string): BenchApplication {
  const client = new ServiceBusClient(connectionString);
  const sender = client.createSender('orders');
  const waiting = new Map<string, () => void>();
  const receiver = client.createReceiver(`status-${benchApplication}`, { receiveMode: 'receiveAndDelete' });
  receiver.subscribe(
    {
      processMessage: (message) => {
        const { orderId, status } = statusMessageSchema.parse(message.body);
        if (terminalStatuses.includes(status)) waiting.get(orderId)?.();
        return Promise.resolve();
      },
      processError: ({ error }) => {
        throw error;
      },
    },
    { maxConcurrentCalls: 128 },
  );

  const send = (orderId: string): Promise<void> =>
    sender.sendMessages({ messageId: orderId, contentType: 'application/json', body: benchOrder(orderId) });

  const whenDone = (orderId: string): Promise<void> =>
    new Promise((resolve) => {
      waiting.set(orderId, () => {
        waiting.delete(orderId);
        resolve();
      });
    });

  return {
    send,
    whenDone,
    process: async (orderId) => {
      const done = whenDone(orderId);
      await send(orderId);
      await done;
    },
    close: () => client.close(),
  };
}
