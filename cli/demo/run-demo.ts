/** The demo from start to end: a stack of its own, orders, perhaps a fault, and the proof that all ended as it must. */
import { ServiceBusClient } from '@azure/service-bus';
import type { Stack } from '../../local/stack.js';
import { createOrderClient } from '../../client/index.js';
import type { OrderClient } from '../../client/index.js';
import { CommandError } from '../errors.js';
import { createOrderApi } from '../orders/order-api.js';
import { defaultApplication } from '../orders/example-order.js';
import type { Screen } from '../terminal/screen.js';
import { collectDeadLetters, collectEvidence } from './evidence.js';
import type { OrderEvidence } from './evidence.js';
import { followOrders } from './follow.js';
import type { Following } from './follow.js';
import type { Fault } from './faults.js';
import type { DemoOptions } from './options.js';
import { furtherOrders, idsOf, invalidOrderStory, sampleOrders } from './sample.js';
import type { SampleOrder } from './sample.js';
import { sendFurther, sendSample } from './send-orders.js';
import { drawSummary } from './summary.js';
import { judgeDeadLetters, judgeOrder } from './verdict.js';

const limitMs = 50_000;
const furtherLimitMs = 100;
const furtherToldEvery = 100;
/** Why the invalid order is refused; nothing else may be among the dead letters. */
const expectedReasons = ['InvalidOrder'];

/** What the demo runs with. */
export interface DemoContext {
  readonly stack: Stack;
  readonly screen: Screen;
  readonly signal: AbortSignal;
  /** When the command began. */
  readonly startedAt: number;
}

/** Runs the demo on a running stack; answers whether all ended as it must. */
export async function runDemo(options: DemoOptions, context: DemoContext): Promise<boolean> {
  const { stack } = context;
  const retryOptions = { maxRetries: 5, retryDelayInMs: 300, timeoutInMs: 5_000 };
  const serviceBus = new ServiceBusClient(stack.connectionString, { retryOptions });
  const client = createOrderClient({ serviceBus, application: defaultApplication, maxConcurrentStatuses: 16 });
  try {
    return await play(options, { ...context, serviceBus, client });
  } finally {
    await client.close();
    await serviceBus.close();
  }
}

interface Stage extends DemoContext {
  readonly serviceBus: ServiceBusClient;
  readonly client: OrderClient;
}

async function play(options: DemoOptions, stage: Stage): Promise<boolean> {
  const { stack, screen, client, serviceBus } = stage;
  tellSample(options, screen);
  const api = createOrderApi({ url: stack.hostUrl, key: stack.hostKey, hint: '' });
  const fault = await options.fault?.begin(stack, (line) => {
    screen.print(line);
  });
  const further = furtherOrders(options.furtherOrders);
  let ended = 0;
  const progress = (): string => `further good orders: ${ended} of ${further.length} ended`;
  const following = followOrders(
    {
      client,
      api,
      orderIds: idsOf(sampleOrders),
      onLook: (rows) => fault?.consider(rows),
      footLine: () => (further.length === 0 ? '' : progress()),
    },
    screen,
  );
  await sendSample(client, serviceBus);
  const furtherEnded = sendFurther(client, further, () => {
    ended += 1;
    if (!screen.isLive && ended % furtherToldEvery === 0) screen.print(progress());
  });
  const limit = AbortSignal.timeout(limitMs + further.length * furtherLimitMs);
  await untilEnded({ furtherEnded, following, limit }, stage);
  screen.keep();
  const sources = { api, hostUrl: stack.hostUrl, statusesOf: following.statusesOf };
  const samples = [...sampleOrders, ...further];
  return conclude({ samples, evidence: await collectEvidence(idsOf(samples), sources), fault }, stage);
}

function tellSample({ furtherOrders: count, fault }: DemoOptions, screen: Screen): void {
  screen.print('The orders:');
  for (const { draft, story } of sampleOrders) screen.print(`  ${draft.orderId.padEnd(14)} ${story}`);
  screen.print(`  ${'invalid'.padEnd(14)} ${invalidOrderStory}`);
  if (count > 0) screen.print(`  ${'further-1 …'.padEnd(14)} ${count} further good orders`);
  if (fault !== undefined) screen.print(`The fault: ${fault.story}`);
  screen.print();
}

interface Awaited {
  readonly furtherEnded: Promise<void>;
  readonly following: Following;
  readonly limit: AbortSignal;
}

async function untilEnded({ furtherEnded, following, limit }: Awaited, { signal }: Stage): Promise<void> {
  try {
    await Promise.all([furtherEnded, following.untilAllHaveEnded(AbortSignal.any([limit, signal]))]);
  } catch (error) {
    if (!limit.aborted || signal.aborted) throw error;
    throw new CommandError(`Not ended in time: ${following.open().join(', ')}.`, { cause: error });
  }
}

interface Outcome {
  readonly samples: readonly SampleOrder[];
  /** In the order of the samples. */
  readonly evidence: readonly OrderEvidence[];
  readonly fault: Fault | undefined;
}

async function conclude({ samples, evidence, fault }: Outcome, stage: Stage): Promise<boolean> {
  const { screen, serviceBus, startedAt } = stage;
  const deadLetters = await collectDeadLetters(serviceBus, 'orders', expectedReasons.length);
  const problems = [
    ...samples.flatMap((sample, index) => {
      const found = evidence[index];
      return found === undefined ? [`${sample.draft.orderId} left no trace`] : judgeOrder(found, sample.expected);
    }),
    ...judgeDeadLetters(deadLetters, expectedReasons),
  ];
  const summary = {
    orders: evidence.slice(0, sampleOrders.length),
    further: evidence.slice(sampleOrders.length),
    deadLetters,
    problems,
    fault: (await fault?.report()) ?? [],
    elapsedMs: Date.now() - startedAt,
  };
  for (const line of drawSummary(summary, screen)) screen.print(line);
  return problems.length === 0;
}
