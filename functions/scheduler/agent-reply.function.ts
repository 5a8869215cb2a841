import { agentReplyQueueName } from '../contracts/identifiers.js';
import { onQueue } from '../on-queue.js';
import { replyDeps } from '../services.js';
import { handleReply } from './handle-reply.js';

/** One reply queue per agent: only that agent's identity may send to it (T25). */
function registerReplyQueue(agent: string): void {
  onQueue(`agent-reply-${agent}`, agentReplyQueueName(agent), (message, context) =>
    handleReply(message, replyDeps(context)),
  );
}

registerReplyQueue('payment');
registerReplyQueue('shipping');
