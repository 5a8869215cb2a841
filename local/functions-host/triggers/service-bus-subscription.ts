/**
 * The subscription of one trigger, over a connection of its own.
 *
 * Invariants
 * S1 After an error of its link the trigger subscribes anew with a new client. One client for all triggers would not do:
 *    when several receivers of a connection reconnect at once, the SDK may leave some waiting for ever.
 * S2 A retired client is closed only when the messages it delivered are settled.
 */
import { ServiceBusClient, type ServiceBusReceivedMessage, type ServiceBusReceiver } from '@azure/service-bus';

/** What a subscription needs. */
export interface SubscriptionOptions {
  readonly connectionString: string;
  readonly queueName: string;
  readonly maxConcurrentCalls: number;
  readonly maxAutoLockRenewalMs: number;
  /** Handles a message and settles it with its receiver; never rejects. */
  readonly handle: (receiver: ServiceBusReceiver, message: ServiceBusReceivedMessage) => Promise<void>;
  /** Called for the first of several errors in a row. */
  readonly onTrouble: (error: Error) => void;
}

/** A running subscription. */
export interface Subscription {
  /** Takes no more messages, waits for those that run, and closes the connection. */
  close(): Promise<void>;
}

interface Link {
  readonly client: ServiceBusClient;
  readonly running: Set<Promise<void>>;
  stop(): Promise<void>;
}

const retryOptions = { maxRetries: 3, retryDelayInMs: 200, maxRetryDelayInMs: 1000, timeoutInMs: 5000 };
const firstWaitMs = 200;
const maxWaitMs = 2_000;

/** Subscribes to a queue until it is closed. */
export function keepSubscribed(options: SubscriptionOptions): Subscription {
  let waitMs = firstWaitMs;
  let timer: NodeJS.Timeout | undefined;
  let current: Link | undefined;
  const retired = new Set<Promise<void>>();

  function connect(): void {
    timer = undefined;
    const link: Link = openLink(options, {
      onMessage: () => {
        waitMs = firstWaitMs;
      },
      onError: (error) => {
        if (link === current) reconnect(link, error);
      },
    });
    current = link;
  }

  function reconnect(link: Link, error: Error): void {
    if (waitMs === firstWaitMs) options.onTrouble(error);
    current = undefined;
    const closing = retire(link).finally(() => retired.delete(closing));
    retired.add(closing);
    timer = setTimeout(connect, waitMs); // S1
    waitMs = Math.min(waitMs * 2, maxWaitMs);
  }

  connect();
  return {
    async close() {
      clearTimeout(timer);
      const last = current;
      current = undefined;
      await Promise.all([...retired, ...(last === undefined ? [] : [retire(last)])]);
    },
  };
}

function openLink(
  options: SubscriptionOptions,
  events: { readonly onMessage: () => void; readonly onError: (error: Error) => void },
): Link {
  const client = new ServiceBusClient(options.connectionString, { retryOptions });
  const receiver = client.createReceiver(options.queueName, {
    receiveMode: 'peekLock',
    skipParsingBodyAsJson: true,
    maxAutoLockRenewalDurationInMs: options.maxAutoLockRenewalMs,
  });
  const running = new Set<Promise<void>>();
  const processMessage = (message: ServiceBusReceivedMessage): Promise<void> => {
    events.onMessage();
    const run = options.handle(receiver, message).finally(() => running.delete(run));
    running.add(run);
    return run;
  };
  const processError = ({ error }: { readonly error: Error }): Promise<void> => {
    events.onError(error);
    return Promise.resolve();
  };
  const { maxConcurrentCalls } = options;
  const handlers = { processMessage, processError };
  const subscription = receiver.subscribe(handlers, { maxConcurrentCalls, autoCompleteMessages: false });
  return { client, running, stop: () => subscription.close() };
}

async function retire(link: Link): Promise<void> {
  await link.stop().catch(() => undefined);
  await Promise.all(link.running); // S2
  await link.client.close().catch(() => undefined);
}
