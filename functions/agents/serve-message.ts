import type { RecentMap } from '../azure/recent-map.js';
import type { AgentReply } from '../contracts/agent-reply.js';
import { parseAgentRequest } from '../contracts/agent-request.js';
import { agentReplyQueueName } from '../contracts/identifiers.js';
import type { Rejection } from '../contracts/rejection.js';
import { traceProperties } from '../contracts/trace-context.js';
import type { QueueSender, ReceivedMessage } from '../state/ports.js';
import { serveRequest } from './agent.js';
import type { Agent, AgentDeps } from './agent.js';

/** What serving messages needs. */
export interface MessageDeps extends AgentDeps {
  readonly sender: QueueSender;
  /** What this process has answered lately, by request. */
  readonly answered: RecentMap<AgentReply>;
}

/**
 * Serves one request message: the reply goes to the agent's reply queue under the request's id, so a repeat is dropped.
 * A request that was answered is not served again: its answer may say that nothing was done, and must stay true.
 */
export async function serveMessage(
  agent: Agent,
  message: Pick<ReceivedMessage, 'deliveryCount'> & { readonly body: unknown },
  deps: MessageDeps,
): Promise<Rejection | undefined> {
  const parsed = parseAgentRequest(message.body);
  if (!parsed.ok) return parsed.rejection;
  const request = parsed.value;
  const key = `${request.requestId} ${request.replyToken}`;
  const isRepeat = message.deliveryCount !== 1;
  const reply = deps.answered.get(key) ?? (await serveRequest(agent, { request, isRepeat }, deps));
  if (reply === undefined) return undefined;
  deps.answered.set(key, reply);
  const { requestId: messageId, orderId: correlationId } = reply;
  const trace = traceProperties(request.traceparent);
  await deps.sender.send(agentReplyQueueName(agent.name), { messageId, correlationId, body: reply, ...trace });
  return undefined;
}
