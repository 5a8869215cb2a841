/**
 * Service Bus queue triggers over the real client.
 *
 * Invariants
 * B1 A message is completed only after its function succeeded; after any failure it is abandoned, even without
 *    auto-completion. Both as the .NET extension does.
 * B2 The subscription comes back by itself when the broker was away.
 */
import { subscribe as subscribeToChannel } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { ServiceBusClient, type ServiceBusReceivedMessage, type ServiceBusReceiver } from '@azure/service-bus';
import type { Console } from '../console.js';
import type { Invoke } from '../invocation.js';
import type { RegisteredFunction } from '../registry.js';
import type { TypedData } from '../core-api.js';
import { bodyData, messageMetadata, type BodyType } from './service-bus-message.js';

/** What all Service Bus triggers share. */
export interface ServiceBusOptions {
  readonly invoke: Invoke;
  readonly console: Console;
  readonly maxConcurrentCalls: number;
  readonly maxAutoLockRenewalMs: number;
}

/** One trigger. */
export interface ServiceBusTriggerOptions {
  readonly fn: RegisteredFunction;
  readonly bindingName: string;
  /** Inputs beside the message. */
  readonly extraInputs: readonly { readonly name: string; readonly data: TypedData }[];
  readonly connectionString: string;
  readonly queueName: string;
  readonly bodyType: BodyType;
  readonly autoComplete: boolean;
}

/** The Service Bus triggers of an app. */
export interface ServiceBusTriggers {
  start(trigger: ServiceBusTriggerOptions): void;
  /** Takes no more messages, waits for the functions that run, and closes the connections. */
  close(): Promise<void>;
}

const retryOptions = { maxRetries: 3, retryDelayInMs: 200, maxRetryDelayInMs: 1000, timeoutInMs: 5000 };
const traceProperty = 'Diagnostic-Id';

/** Creates the triggers' common part: one client for each connection. */
export function createServiceBusTriggers(options: ServiceBusOptions): ServiceBusTriggers {
  const clients = new Map<string, ServiceBusClient>();
  const subscriptions: { readonly close: () => Promise<void> }[] = [];
  const running = new Set<Promise<void>>();
  sendSmallFramesAtOnce();

  function clientFor(connectionString: string): ServiceBusClient {
    const client = clients.get(connectionString) ?? new ServiceBusClient(connectionString, { retryOptions });
    clients.set(connectionString, client);
    return client;
  }

  return {
    start(trigger) {
      const receiver = clientFor(trigger.connectionString).createReceiver(trigger.queueName, {
        receiveMode: 'peekLock',
        skipParsingBodyAsJson: true,
        maxAutoLockRenewalDurationInMs: options.maxAutoLockRenewalMs,
      });
      const { name } = trigger.fn.metadata;
      const processMessage = (message: ServiceBusReceivedMessage): Promise<void> => {
        const run = processOne(options, trigger, { receiver, message }).finally(() => running.delete(run));
        running.add(run);
        return run;
      };
      const processError = ({ error, errorSource }: { error: Error; errorSource: string }): Promise<void> => {
        options.console.warning(`Service Bus trigger '${name}' (${errorSource}): ${error.message}`); // B2
        return Promise.resolve();
      };
      const { maxConcurrentCalls } = options;
      subscriptions.push(
        receiver.subscribe({ processMessage, processError }, { maxConcurrentCalls, autoCompleteMessages: false }),
      );
    },
    async close() {
      await Promise.all(subscriptions.map((subscription) => subscription.close()));
      await Promise.all(running);
      await Promise.all([...clients.values()].map((client) => client.close()));
    },
  };
}

interface Delivery {
  readonly receiver: ServiceBusReceiver;
  readonly message: ServiceBusReceivedMessage;
}

async function processOne(
  options: ServiceBusOptions,
  trigger: ServiceBusTriggerOptions,
  { receiver, message }: Delivery,
): Promise<void> {
  const succeeded = await invokeWith(options, trigger, message);
  try {
    if (!succeeded)
      await receiver.abandonMessage(message); // B1
    else if (trigger.autoComplete) await receiver.completeMessage(message);
  } catch (error) {
    const verb = succeeded ? 'completed' : 'abandoned';
    options.console.warning(
      `Message '${String(message.messageId)}' of '${trigger.queueName}' could not be ${verb}, so it will be ` +
        `delivered again: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

async function invokeWith(
  { invoke }: ServiceBusOptions,
  trigger: ServiceBusTriggerOptions,
  message: ServiceBusReceivedMessage,
): Promise<boolean> {
  const traceParent = message.applicationProperties?.[traceProperty];
  try {
    await invoke({
      fn: trigger.fn,
      inputs: [{ name: trigger.bindingName, data: bodyData(message, trigger.bodyType) }, ...trigger.extraInputs],
      triggerMetadata: messageMetadata(message),
      reason: `New ServiceBus message detected on '${trigger.queueName}'.`,
      ...(typeof traceParent === 'string' ? { traceParent } : {}),
    });
    return true;
  } catch {
    return false; // The console has shown the error.
  }
}

let isSubscribed = false;

/** The client leaves Nagle's algorithm on, which costs 40 ms a round trip on loopback. */
function sendSmallFramesAtOnce(): void {
  if (isSubscribed) return;
  isSubscribed = true;
  subscribeToChannel('net.client.socket', (message) => {
    (message as { readonly socket: Socket }).socket.setNoDelay(true);
  });
}
