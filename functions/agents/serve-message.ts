import { parseAgentRequest } from '../contracts/agent-request.js';
import { agentReplyQueueName } from '../contracts/identifiers.js';
import type { Rejection } from '../contracts/rejection.js';
import { traceProperties } from '../contracts/trace-context.js';
import type { QueueSender, ReceivedMessage } from '../state/ports.js';
import { serveRequest } from './agent.js';
import type { Agent, AgentDeps } from './agent.js';

/** Serves one request message: the reply goes to the agent's reply queue under the request's id, so a repeat is dropped. */
export async function serveMessage(
  agent: Agent,
  message: Pick<ReceivedMessage, 'body' | 'deliveryCount'>,
  deps: AgentDeps & { readonly sender: QueueSender },
): Promise<Rejection | undefined> {
  const parsed = parseAgentRequest(message.body);
  if (!parsed.ok) return parsed.rejection;
  // An earlier delivery of this request may have made calls: then nothing is known of its effect (G5).
  const mayDefer = message.deliveryCount === 1;
  const reply = await serveRequest(agent, { request: parsed.value, mayDefer }, deps);
  if (reply === undefined) return undefined;
  const { requestId: messageId, orderId: correlationId } = reply;
  const trace = traceProperties(parsed.value.traceparent);
  await deps.sender.send(agentReplyQueueName(agent.name), { messageId, correlationId, body: reply, ...trace });
  return undefined;
}
