/**
 * A small agent with its remote service, written from docs/bring-your-own-agent.md alone, as someone in another language
 * would: it shares no code with the agents of the app. Any part of it can be replaced by a broken one.
 */
import type { ProcessErrorArgs, ServiceBusClient, ServiceBusReceivedMessage } from '@azure/service-bus';

/** A request as it comes. */
export interface SampleRequest {
  readonly schemaVersion: number;
  readonly requestId: string;
  readonly orderId: string;
  readonly attempt: number;
  readonly stepId: string;
  readonly action: 'do' | 'undo';
  readonly completeBy: string;
  readonly idempotencyKey: string;
  readonly fencingToken: number;
  readonly replyToken: string;
  readonly payload: { readonly behave?: string };
}

/** What the remote service remembers of an order. */
export interface SampleEntry {
  highestToken: number;
  /** Reference by key. */
  readonly effects: Map<string, string>;
  undone: boolean;
  refused: boolean;
}

type Json = Readonly<Record<string, unknown>>;

/** What can be broken. */
export interface SampleParts {
  readonly isOver: (request: SampleRequest) => boolean;
  readonly keyOf: (request: SampleRequest, delivery: number) => string;
  readonly isStale: (entry: SampleEntry, request: SampleRequest) => boolean;
  readonly undo: (entry: SampleEntry) => Json;
  readonly isUndone: (entry: SampleEntry) => boolean;
  readonly isRefused: (entry: SampleEntry) => boolean;
  /** What a payload with `behave` ends in; `undefined`: nothing is said. */
  readonly misbehave: (behave: string) => Json | undefined;
  readonly toReply: (request: SampleRequest, outcome: Json) => Json;
  readonly replyMessageId: (request: SampleRequest) => string;
  /** True when nothing is said about what was done. */
  readonly isSilent: (request: SampleRequest) => boolean;
  /** Why a message is no request. */
  readonly whyUnreadable: (body: unknown) => string | undefined;
  readonly onUnreadable: 'deadLetter' | 'complete' | 'abandon';
}

/** The parts of an agent that keeps the contract. */
export const goodParts: SampleParts = {
  isOver: ({ completeBy }) => Date.parse(completeBy) <= Date.now(),
  keyOf: ({ idempotencyKey }) => idempotencyKey,
  isStale: (entry, { fencingToken }) => fencingToken < entry.highestToken,
  undo: (entry) => {
    entry.undone = true;
    return { outcome: 'succeeded', result: { reference: 'undone' } };
  },
  isUndone: ({ undone }) => undone,
  isRefused: ({ refused }) => refused,
  misbehave: (behave) => (behave === 'unknown' ? undefined : { outcome: behave, error: { code: 'No', message: 'no' } }),
  toReply: ({ requestId, replyToken, orderId, attempt, stepId }, outcome) => {
    return { schemaVersion: 1, requestId, replyToken, orderId, attempt, stepId, ...outcome };
  },
  replyMessageId: ({ requestId }) => requestId,
  isSilent: () => false,
  whyUnreadable: (body) => {
    const { schemaVersion, orderId } = (body ?? {}) as Partial<SampleRequest>;
    if (typeof orderId !== 'string') return 'NotARequest';
    return schemaVersion === 1 ? undefined : 'OtherVersion';
  },
  onUnreadable: 'deadLetter',
};

/** The agent's queues. */
export interface SampleQueues {
  readonly requests: string;
  readonly replies: string;
}

/** An agent at work. */
export interface SampleAgent {
  /** How many requests it has served. */
  served(): number;
  close(): Promise<void>;
}

/** Starts an instance of the agent; instances that share `entries` have one remote service. */
export function startSampleAgent(
  client: ServiceBusClient,
  queues: SampleQueues,
  parts: SampleParts,
  entries: Map<string, SampleEntry>,
): SampleAgent {
  const receiver = client.createReceiver(queues.requests);
  const sender = client.createSender(queues.replies);
  let deliveries = 0;

  const serve = async (request: SampleRequest): Promise<void> => {
    deliveries += 1;
    const outcome = actUpon(entryOf(entries, request.orderId), request, { parts, delivery: deliveries });
    if (outcome === undefined || parts.isSilent(request)) return;
    await sender.sendMessages({ messageId: parts.replyMessageId(request), body: parts.toReply(request, outcome) });
  };

  const processMessage = async (message: ServiceBusReceivedMessage): Promise<void> => {
    const reason = parts.whyUnreadable(message.body);
    if (reason === undefined) {
      await serve(message.body as SampleRequest);
      await receiver.completeMessage(message);
    } else if (parts.onUnreadable === 'deadLetter') {
      await receiver.deadLetterMessage(message, {
        deadLetterReason: reason,
        deadLetterErrorDescription: 'see contract',
      });
    } else if (parts.onUnreadable === 'complete') await receiver.completeMessage(message);
    else await receiver.abandonMessage(message);
  };

  const processError = ({ error }: ProcessErrorArgs): Promise<void> => Promise.reject(error);
  receiver.subscribe({ processMessage, processError }, { autoCompleteMessages: false, maxConcurrentCalls: 4 });
  return {
    served: () => deliveries,
    async close() {
      await receiver.close();
      await sender.close();
    },
  };
}

function entryOf(entries: Map<string, SampleEntry>, orderId: string): SampleEntry {
  const entry = entries.get(orderId) ?? {
    highestToken: 0,
    effects: new Map<string, string>(),
    undone: false,
    refused: false,
  };
  entries.set(orderId, entry);
  return entry;
}

function actUpon(
  entry: SampleEntry,
  request: SampleRequest,
  { parts, delivery }: { readonly parts: SampleParts; readonly delivery: number },
): Json | undefined {
  const { behave } = request.payload;
  if (parts.isOver(request) || parts.isStale(entry, request)) return undefined;
  entry.highestToken = Math.max(entry.highestToken, request.fencingToken);
  if (request.action === 'undo') return parts.undo(entry);
  if (behave === 'refused') entry.refused = true;
  if (behave !== undefined) return parts.misbehave(behave);
  if (parts.isRefused(entry)) return { outcome: 'refused', error: { code: 'No', message: 'refused before' } };
  if (parts.isUndone(entry)) return { outcome: 'refused', error: { code: 'Undone', message: 'undone before' } };
  const key = parts.keyOf(request, delivery);
  const reference = entry.effects.get(key) ?? `reference-of-${key}`;
  entry.effects.set(key, reference);
  return { outcome: 'succeeded', result: { reference } };
}
