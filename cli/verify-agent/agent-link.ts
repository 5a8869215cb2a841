/**
 * An agent's queues from the scheduler's side.
 *
 * Invariants
 * VL1 Nothing is taken out of a queue: replies and dead letters are only looked at, so those of others stay where they are.
 * VL2 Silence is concluded only when the request has left its queue and nothing came for a while after that.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceBusClient, ServiceBusReceivedMessage } from '@azure/service-bus';
import type { AgentRequest } from '../../functions/contracts/agent-request.js';
import { followQueue, watchPresence } from './queue-views.js';
import type { Presence } from './queue-views.js';
import { createReplyLog } from './reply-log.js';
import type { SeenReply } from './reply-log.js';

/** The queues. */
export interface AgentQueues {
  readonly requests: string;
  readonly replies: string;
  readonly deadLetters: string;
}

/** How long is waited. */
export interface Patience {
  /** For a reply, and for a request to leave its queue, in milliseconds. */
  readonly timeoutMs: number;
  /** After a request has left its queue, until its silence is taken for one, in milliseconds. */
  readonly quietMs: number;
}

/** A message that was sent, to ask what became of it. */
export interface Sent {
  readonly messageId: string;
  readonly request: AgentRequest | undefined;
  readonly repliesBefore: number;
}

/** What became of a request. */
export type Answer =
  | { readonly kind: 'replied'; readonly reply: SeenReply; readonly afterMs: number }
  /** It left its queue, and no reply came. */
  | { readonly kind: 'silent' }
  /** It is still in its queue. */
  | { readonly kind: 'stuck' };

/** A dead letter. */
export interface SeenDeadLetter {
  /** Empty when it has none. */
  readonly reason: string;
}

/** The agent, as far as it can be seen. */
export interface AgentLink {
  /** Sends a request; under another MessageId it is what a second delivery would be to the agent. */
  send(request: AgentRequest, messageId?: string): Promise<Sent>;
  /** Sends bytes that are no request. */
  sendText(text: string, messageId: string): Promise<Sent>;
  answerTo(sent: Sent): Promise<Answer>;
  /** The dead letter that a message became; looked for until it has been out of its queue for the quiet time. */
  deadLetterOf(sent: Sent): Promise<SeenDeadLetter | undefined>;
  /** All replies so far. */
  readonly replies: readonly SeenReply[];
  /** Whether they are all still in their queue: otherwise somebody else receives from it. */
  doRepliesStay(): Promise<boolean>;
}

const pollMs = 40;
const contentType = 'application/json';

/** Opens the link. Someone else who receives from the reply queue would take replies away unseen. */
export async function openAgentLink(
  client: ServiceBusClient,
  queues: AgentQueues,
  patience: Patience & { readonly signal: AbortSignal },
): Promise<AgentLink> {
  const log = createReplyLog();
  const [replies, deadLetters, presence] = await Promise.all([
    followQueue(client, queues.replies),
    followQueue(client, queues.deadLetters),
    watchPresence(client, queues.requests),
  ]);
  const sender = client.createSender(queues.requests);
  const letters: ServiceBusReceivedMessage[] = [];

  const lookFor = createLookout(presence, patience);

  return {
    replies: log.replies,
    async doRepliesStay() {
      for (const { message } of log.replies) if (!(await replies.holds(message))) return false;
      return true;
    },
    async send(request, messageId = request.requestId) {
      log.expect(request);
      const sent = { messageId, request, repliesBefore: log.replies.length };
      await sender.sendMessages({ messageId, correlationId: request.orderId, contentType, body: request });
      return sent;
    },
    async sendText(text, messageId) {
      await sender.sendMessages({ messageId, contentType, body: Buffer.from(text) });
      return { messageId, request: undefined, repliesBefore: log.replies.length };
    },
    async answerTo({ messageId, request, repliesBefore }) {
      const startedAt = Date.now();
      const found = await lookFor(messageId, async () => {
        log.add(await replies.news());
        return log.replies.slice(repliesBefore).find((reply) => reply.request.requestId === request?.requestId);
      });
      if (found === 'gone') return { kind: 'silent' };
      if (found === 'stuck') return { kind: 'stuck' };
      return { kind: 'replied', reply: found, afterMs: Date.now() - startedAt };
    },
    async deadLetterOf({ messageId }) {
      const found = await lookFor(messageId, async () => {
        letters.push(...(await deadLetters.news()));
        return letters.find((letter) => letter.messageId === messageId);
      });
      return found === 'gone' || found === 'stuck' ? undefined : { reason: reasonOf(found) };
    },
  };
}

/** Looks until there is something, or the message has been out of its queue for the quiet time, or time is up. */
type Lookout = <T>(messageId: string, look: () => Promise<T | undefined>) => Promise<T | 'gone' | 'stuck'>;

function createLookout(
  presence: Presence,
  { timeoutMs, quietMs, signal }: Patience & { readonly signal: AbortSignal },
): Lookout {
  return async (messageId, look) => {
    const startedAt = Date.now();
    let goneAt: number | undefined;
    for (;;) {
      // Before the look: what the agent did before it completed the request is visible then.
      if (goneAt === undefined && !(await presence.isThere(messageId))) goneAt = Date.now();
      const found = await look();
      if (found !== undefined) return found;
      if (goneAt !== undefined && Date.now() - goneAt >= quietMs) return 'gone'; // VL2
      if (goneAt === undefined && Date.now() - startedAt >= timeoutMs) return 'stuck';
      await delay(pollMs, undefined, { signal });
    }
  };
}

function reasonOf({ deadLetterReason, applicationProperties }: ServiceBusReceivedMessage): string {
  const property = applicationProperties?.['DeadLetterReason'];
  return deadLetterReason ?? (typeof property === 'string' ? property : '');
}
