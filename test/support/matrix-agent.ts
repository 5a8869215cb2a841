/** An agent of the matrix in the place of the payment agent, which the host has switched off: it behaves as a test says. */
import type { ServiceBusClient } from '@azure/service-bus';
import type { AgentReply } from '../../functions/contracts/agent-reply.js';
import type { AgentRequest } from '../../functions/contracts/agent-request.js';
import { createHttpRemoteService } from '../../functions/agents/http-remote-service.js';
import type { MatrixWorld } from './matrix-world.js';

/** Settings of a world in which the test plays the payment agent. */
export const withoutPaymentAgent: Readonly<Record<string, string>> = { 'AzureWebJobs.payment-agent.Disabled': 'true' };

/** What a test's agent has at hand for one request. */
export interface AgentHands {
  readonly request: AgentRequest;
  /** The whole message body, as the agent kit wants it. */
  readonly body: unknown;
  /** Makes the effect at the remote service, whatever the deadline says. */
  work(): Promise<void>;
  /** A good reply to this request. */
  reply(): AgentReply;
  send(body: unknown, messageId: string): Promise<void>;
}

/** Answers every request of the queue until it is closed. */
export function playPaymentAgent(
  { bus, remote }: Pick<MatrixWorld, 'bus' | 'remote'>,
  answer: (hands: AgentHands) => Promise<void>,
): { close(): Promise<void> } {
  const receiver = bus.createReceiver('payment-requests');
  const sender = bus.createSender('payment-replies');
  const service = createHttpRemoteService(`${remote.url}/payment`);
  const subscription = receiver.subscribe(
    {
      processMessage: async (message) => {
        const request = message.body as AgentRequest;
        await answer({
          request,
          body: message.body,
          work: async () => {
            const { orderId, idempotencyKey, fencingToken, payload } = request;
            const call = { operation: 'charges', body: { orderId, ...payload }, idempotencyKey, fencingToken };
            await service.call(call, AbortSignal.timeout(10_000));
          },
          reply: () => goodReply(request),
          send: async (body, messageId) => {
            await sender.sendMessages({ body, messageId, contentType: 'application/json' });
          },
        });
      },
      processError: () => Promise.resolve(),
    },
    { maxConcurrentCalls: 8 },
  );
  return {
    close: async () => {
      await subscription.close();
      await receiver.close();
      await sender.close();
    },
  };
}

function goodReply({ requestId, replyToken, orderId, attempt, stepId }: AgentRequest): AgentReply {
  const ids = { schemaVersion: 1, requestId, replyToken, orderId, attempt, stepId } as const;
  return { ...ids, outcome: 'succeeded', result: { reference: `payment-${orderId}` } };
}

/** A sender to one queue, closed after one message. */
export async function sendTo(bus: ServiceBusClient, queue: string, body: unknown, messageId: string): Promise<void> {
  const sender = bus.createSender(queue);
  await sender.sendMessages({ body, messageId });
  await sender.close();
}
