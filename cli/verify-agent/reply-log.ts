/**
 * The replies to our requests. A reply is recognised by any id that it carries, so that an agent that echoes one of them
 * wrongly fails the check about ids and no other.
 */
import type { ServiceBusReceivedMessage } from '@azure/service-bus';
import type { AgentRequest } from '../../functions/contracts/agent-request.js';
import { decodeMessageBody } from '../../functions/contracts/message-body.js';
import type { JsonObject } from '../../functions/contracts/message-body.js';

/** A reply as it came. */
export interface SeenReply {
  readonly request: AgentRequest;
  readonly message: ServiceBusReceivedMessage;
  /** Empty when the body holds no JSON object. */
  readonly body: JsonObject;
}

/** Assigns replies to requests. */
export interface ReplyLog {
  readonly replies: readonly SeenReply[];
  expect(request: AgentRequest): void;
  add(messages: readonly ServiceBusReceivedMessage[]): void;
}

export function createReplyLog(): ReplyLog {
  const requests = new Map<string, AgentRequest>();
  const replies: SeenReply[] = [];
  return {
    replies,
    expect(request) {
      requests.set(request.requestId, request);
    },
    add(messages) {
      for (const message of messages) {
        const body = decodeMessageBody(message.body) ?? {};
        const request = findRequest([...requests.values()], message, body);
        if (request !== undefined) replies.push({ request, message, body });
      }
    },
  };
}

function findRequest(
  requests: readonly AgentRequest[],
  { messageId, correlationId }: ServiceBusReceivedMessage,
  body: JsonObject,
): AgentRequest | undefined {
  const latestFirst = requests.toReversed();
  return (
    latestFirst.find(({ requestId }) => body['requestId'] === requestId) ??
    latestFirst.find(({ replyToken }) => body['replyToken'] === replyToken) ??
    latestFirst.find(({ requestId }) => messageId === requestId || correlationId === requestId) ??
    latestFirst.find(({ orderId }) => body['orderId'] === orderId || correlationId === orderId)
  );
}
