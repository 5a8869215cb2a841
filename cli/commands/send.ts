/** `send`: submits orders, as an application does. */
import { randomBytes } from 'node:crypto';
import { createOrderClient, StatusTimeoutError } from '../../client/index.js';
import type { OrderClient, OrderDraft } from '../../client/index.js';
import type { Command, CommandContext, GivenOptions } from '../command.js';
import { eachAtOnce } from '../each-at-once.js';
import { CommandError, UsageError } from '../errors.js';
import { defaultApplication, exampleOrder } from '../orders/example-order.js';
import type { ExampleValues } from '../orders/example-order.js';
import { statusText } from '../orders/status-text.js';
import { readJsonFile } from '../../local/project.js';
import type { Screen } from '../terminal/screen.js';

const maxCount = 100_000;
const atOnce = 64;
/** Up to so many orders are reported one by one. */
const reportedSingly = 20;
const defaultTimeoutSeconds = 60;
const longestTimeoutSeconds = 86_400;

export const send: Command = {
  summary: 'send an order, or many',
  usage: `send [options]

  --order-id <id>           default: a new one; with --count, what the ids begin with
  --application <name>      who sends it (default ${defaultApplication}, or as the file says)
  --payment-token <token>   steers the payment service (default tok_ok)
  --sku <sku>               steers the inventory service (default BOOK)
  --postal-code <code>      steers the shipping service (default 10115)
  --priority <p>            normal or high
  --count <n>               so many orders
  --file <order.json>       the whole order from a file
  --wait                    wait for the end of each order; takes the application's status messages from its queue
  --timeout <seconds>       how long to wait for each of them (default ${defaultTimeoutSeconds})`,
  options: {
    'order-id': { type: 'string' },
    application: { type: 'string' },
    'payment-token': { type: 'string' },
    sku: { type: 'string' },
    'postal-code': { type: 'string' },
    priority: { type: 'string' },
    count: { type: 'string' },
    file: { type: 'string' },
    wait: { type: 'boolean' },
    timeout: { type: 'string' },
  },
  positionals: { min: 0, max: 0 },
  async run({ options }, context) {
    const orders = ordersFrom(options);
    const timeoutSeconds = timeoutFrom(options);
    const application = applicationOf(options, orders);
    const serviceBus = context.endpoints.serviceBus();
    const client = createOrderClient({ serviceBus, application, maxConcurrentStatuses: atOnce });
    try {
      await sendAll(client, orders, context);
      return options.flag('wait')
        ? await waitForAll(client, orders, { ...context, timeoutSeconds })
        : advise(orders, context.screen);
    } finally {
      await client.close();
      await serviceBus.close();
    }
  },
};

function ordersFrom(options: GivenOptions): readonly OrderDraft[] {
  const file = options.text('file');
  return file === undefined ? exampleOrders(options) : [orderFromFile(file, options)];
}

function exampleOrders(options: GivenOptions): readonly OrderDraft[] {
  const count = options.count('count', { min: 1, max: maxCount });
  const id = options.text('order-id') ?? newOrderId();
  const values = exampleValues(options);
  if (count === undefined) return [exampleOrder(id, values)];
  return Array.from({ length: count }, (_, index) => exampleOrder(`${id}-${index + 1}`, values));
}

function exampleValues(options: GivenOptions): ExampleValues {
  const given = {
    paymentToken: options.text('payment-token'),
    sku: options.text('sku'),
    postalCode: options.text('postal-code'),
    priority: priorityFrom(options),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function priorityFrom(options: GivenOptions): 'normal' | 'high' | undefined {
  const priority = options.text('priority');
  if (priority === undefined || priority === 'normal' || priority === 'high') return priority;
  throw new UsageError(`--priority is "${priority}" and must be normal or high.`);
}

/** Sorts by time, and two people who send in the same second get different ones. */
function newOrderId(): string {
  const time = new Date().toISOString().slice(0, 19).replaceAll(/\D/g, '');
  return `order-${time}-${randomBytes(2).toString('hex')}`;
}

function orderFromFile(path: string, options: GivenOptions): OrderDraft {
  const shaping = ['order-id', 'payment-token', 'sku', 'postal-code', 'priority', 'count'];
  const given = shaping.find((name) => options.text(name) !== undefined);
  if (given !== undefined) throw new UsageError(`--${given} and --file exclude each other.`);
  try {
    // What is wrong with its fields, the client tells.
    return readJsonFile(path, 'an order') as OrderDraft;
  } catch (error) {
    throw new CommandError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

function applicationOf(options: GivenOptions, [first]: readonly OrderDraft[]): string {
  const given = options.text('application') ?? first?.application;
  return typeof given === 'string' ? given : defaultApplication;
}

async function sendAll(client: OrderClient, orders: readonly OrderDraft[], context: CommandContext): Promise<void> {
  const { screen, signal } = context;
  let sent = 0;
  await eachAtOnce(orders, atOnce, async (order) => {
    signal.throwIfAborted();
    const { orderId, messageId } = await client.submitOrder(order);
    sent += 1;
    if (orders.length <= reportedSingly) screen.print(`${orderId} sent (MessageId ${messageId})`);
    else screen.draw([`sent ${sent} of ${orders.length}`]);
  });
  screen.draw([]);
  if (orders.length > reportedSingly) screen.print(`${orders.length} orders sent`);
}

function timeoutFrom(options: GivenOptions): number {
  const seconds = options.count('timeout', { min: 1, max: longestTimeoutSeconds });
  if (seconds !== undefined && !options.flag('wait')) throw new UsageError('--timeout goes with --wait.');
  return seconds ?? defaultTimeoutSeconds;
}

/** Waits for the end of each order, and sums up in any case, also when it is interrupted. */
async function waitForAll(
  client: OrderClient,
  orders: readonly OrderDraft[],
  { screen, signal, timeoutSeconds }: CommandContext & { readonly timeoutSeconds: number },
): Promise<number> {
  const counts = { completed: 0, endedOtherwise: 0 };
  const tell = (line: string): void => {
    if (orders.length <= reportedSingly) screen.print(line);
  };
  const wait = async ({ orderId }: OrderDraft): Promise<void> => {
    try {
      const end = await client.waitForStatus(orderId, { signal, timeoutMs: timeoutSeconds * 1_000 });
      counts[end.status === 'OrderCompleted' ? 'completed' : 'endedOtherwise'] += 1;
      tell(`${orderId} ${statusText(end)}`);
    } catch (error) {
      if (!(error instanceof StatusTimeoutError)) throw error;
      const newest = error.latest === undefined ? 'no status came' : `its newest status is ${error.latest.status}`;
      tell(`${orderId} has not ended after ${timeoutSeconds} s; ${newest}. Follow it: npm run cli -- watch ${orderId}`);
    }
  };
  try {
    await Promise.all(orders.map(wait));
  } finally {
    if (orders.length > reportedSingly) screen.print(summary(orders.length, counts));
  }
  return counts.completed === orders.length ? 0 : 1;
}

function summary(
  count: number,
  { completed, endedOtherwise }: Readonly<Record<'completed' | 'endedOtherwise', number>>,
): string {
  const open = count - completed - endedOtherwise;
  const parts = [
    `${completed} of ${count} orders completed`,
    ...(endedOtherwise === 0 ? [] : [`${endedOtherwise} ended otherwise`]),
    ...(open === 0 ? [] : [`${open} had not ended yet`]),
  ];
  return parts.join(', ');
}

function advise([first]: readonly OrderDraft[], screen: Screen): number {
  if (screen.isLive && first !== undefined) screen.print(`Follow it: npm run cli -- watch ${first.orderId}`);
  return 0;
}
