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
import type { ServiceBusReceivedMessage, ServiceBusReceiver } from '@azure/service-bus';
import type { Console } from '../console.js';
import type { Invoke } from '../invocation.js';
import type { FunctionMetadata } from '../core-api.js';
import type { TypedData } from '../core-api.js';
import { bodyData, triggerMetadata, type BodyType } from './service-bus-message.js';
import { keepSubscribed, type Subscription } from './service-bus-subscription.js';

/** What all Service Bus triggers share. */
export interface ServiceBusOptions {
  readonly invoke: Invoke;
  readonly console: Console;
  readonly maxConcurrentCalls: number;
  readonly maxAutoLockRenewalMs: number;
}

/** One trigger. */
export interface ServiceBusTriggerOptions {
  readonly fn: FunctionMetadata;
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

const traceProperty = 'Diagnostic-Id';

/** Creates the triggers' common part. */
export function createServiceBusTriggers(options: ServiceBusOptions): ServiceBusTriggers {
  const subscriptions: Subscription[] = [];
  sendSmallFramesAtOnce();
  return {
    start(trigger) {
      const { name } = trigger.fn;
      subscriptions.push(
        keepSubscribed({
          connectionString: trigger.connectionString,
          queueName: trigger.queueName,
          maxConcurrentCalls: options.maxConcurrentCalls,
          maxAutoLockRenewalMs: options.maxAutoLockRenewalMs,
          handle: (receiver, message) => processOne(options, trigger, { receiver, message }),
          onTrouble: ({ message }) => {
            options.console.warning(`Service Bus trigger '${name}' lost its queue and subscribes anew: ${message}`); // B2
          },
        }),
      );
    },
    async close() {
      await Promise.all(subscriptions.map((subscription) => subscription.close()));
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
      triggerMetadata: triggerMetadata(message, trigger.bodyType),
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
