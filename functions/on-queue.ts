/**
 * Registers the functions that a Service Bus queue triggers, so that no registration forgets what belongs to each of them.
 *
 * Invariants
 * OQ1 The body comes as bytes (`dataType: 'binary'`). A text binding would copy the properties of a JSON body over the
 *     message's metadata, so that a sender could set its id and its delivery count, and would alter what is not UTF-8.
 * OQ2 What returns without a fault is completed by the host; refusals and faults follow azure/service-bus-trigger.ts.
 */
import { app, trigger } from '@azure/functions';
import type { InvocationContext } from '@azure/functions';
import { input } from 'durable-functions';
import { receive, receiveOnce } from './azure/service-bus-trigger.js';
import type { Rejection } from './contracts/rejection.js';
import { triggerDeps } from './services.js';
import type { ReceivedMessage } from './state/ports.js';

/** Handles one message; returns a refusal if the message breaks its contract. */
type QueueHandler = (message: ReceivedMessage, context: InvocationContext) => Promise<Rejection | undefined>;

/** A queue of the scheduler: transient faults are waited out and never use up deliveries. The handler may use the Durable client. */
export function onQueue(name: string, queue: string, handler: QueueHandler): void {
  app.generic(name, {
    trigger: bytesFrom(queue),
    extraInputs: [input.durableClient()],
    handler: (body, context) =>
      receive({ queue, body, context }, (message) => handler(message, context), triggerDeps(context)),
  });
}

/** The request queue of an agent: one run per delivery, because each run may call the remote service. */
export function onRequestQueue(name: string, queue: string, handler: QueueHandler): void {
  app.generic(name, {
    trigger: bytesFrom(queue),
    handler: (body, context) =>
      receiveOnce({ queue, body, context }, (message) => handler(message, context), triggerDeps(context)),
  });
}

function bytesFrom(queueName: string): ReturnType<typeof trigger.generic> {
  return { ...trigger.serviceBusQueue({ queueName, connection: 'ServiceBusConnection' }), dataType: 'binary' }; // OQ1
}
