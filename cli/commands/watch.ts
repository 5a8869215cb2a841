/** `watch`: follows orders, without taking anything from a queue. */
import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceBusReceiver } from '@azure/service-bus';
import { statusQueueName } from '../../functions/contracts/identifiers.js';
import { decodeMessageBody } from '../../functions/contracts/message-body.js';
import { statusMessageSchema } from '../../functions/contracts/status-message.js';
import type { StatusMessage } from '../../functions/contracts/status-message.js';
import type { Command, CommandContext } from '../command.js';
import { createBoard, drawBoard, inOrderOfTime } from '../orders/board.js';
import type { Board } from '../orders/board.js';
import { defaultApplication } from '../orders/example-order.js';
import { AppUnreachableError, createOrderApi } from '../orders/order-api.js';
import type { OrderApi } from '../orders/order-api.js';
import { isTerminal } from '../orders/order-record.js';
import { refreshRecords } from '../orders/refresh-records.js';
import { cut } from '../terminal/table.js';
import { newestFitting } from '../terminal/screen.js';
import type { Screen } from '../terminal/screen.js';

const capacity = 200;
const peekedAtOnce = 100;
const pauseMs = 300;

export const watch: Command = {
  summary: 'follow orders until Ctrl-C, or named ones until they have ended',
  usage: `watch [<orderId> ...] [--application <name>]

  Without ids it follows the orders whose status messages are in the application's status queue. It only looks: the
  messages stay there for the application.

  --application <name>   whose status queue (default ${defaultApplication})`,
  options: { application: { type: 'string' } },
  positionals: { min: 0, max: capacity },
  async run({ positionals: orderIds, options }, context) {
    const application = options.text('application') ?? defaultApplication;
    const client = context.endpoints.serviceBus();
    try {
      const receiver = client.createReceiver(statusQueueName(application));
      await follow({ receiver, orderIds, api: createOrderApi(context.endpoints.app()) }, context);
      return 0;
    } finally {
      await client.close();
    }
  },
};

interface Watched {
  readonly receiver: Pick<ServiceBusReceiver, 'peekMessages'>;
  readonly api: OrderApi;
  readonly orderIds: readonly string[];
}

async function follow(watched: Watched, { screen, signal }: CommandContext): Promise<void> {
  const board = createBoard(capacity);
  for (const orderId of watched.orderIds) board.add(orderId);
  for (let outage = ''; !signal.aborted;) {
    const { lines, problem } = await look(watched, board);
    if (!screen.isLive) printAll(screen, [...inOrderOfTime(lines), ...(problem === outage ? [] : [problem])]);
    outage = problem;
    drawLive(board, outage, screen);
    if (watched.orderIds.length > 0 && haveEnded(board)) break;
    await delay(pauseMs, undefined, { signal }).catch(() => undefined);
  }
  screen.keep();
}

/** One round: new statuses, then the records that may have changed. An app that is down for a while is no reason to end. */
async function look(
  { receiver, api, orderIds }: Watched,
  board: Board,
): Promise<{ readonly lines: readonly string[]; readonly problem: string }> {
  const lines: string[] = [];
  for (const status of await peekNewStatuses(receiver)) {
    const isWatched = orderIds.length === 0 || orderIds.includes(status.orderId);
    if (isWatched) lines.push(...board.noteStatus(status));
  }
  try {
    await refreshRecords(api, board.unfinished(), (record) => lines.push(...board.noteRecord(record)));
    return { lines, problem: '' };
  } catch (error) {
    if (error instanceof AppUnreachableError) return { lines, problem: error.message };
    throw error;
  }
}

/** A receiver goes on peeking where its last peek ended. */
async function peekNewStatuses(receiver: Watched['receiver']): Promise<readonly StatusMessage[]> {
  const found: StatusMessage[] = [];
  for (;;) {
    const page = await receiver.peekMessages(peekedAtOnce);
    if (page.length === 0) return found;
    for (const { body } of page) {
      const parsed = statusMessageSchema.safeParse(decodeMessageBody(body));
      if (parsed.success) found.push(parsed.data);
    }
  }
}

function haveEnded(board: Board): boolean {
  return board.rows().every(({ record }) => record !== undefined && isTerminal(record));
}

function drawLive(board: Board, outage: string, screen: Screen): void {
  const [titles = '', ...rows] = drawBoard(board.rows(), screen);
  const foot = outage === '' ? [] : [cut(outage, screen.width)];
  screen.draw([titles, ...newestFitting(rows, screen.height - 1 - foot.length), ...foot]);
}

function printAll(screen: Screen, lines: readonly string[]): void {
  for (const line of lines) if (line !== '') screen.print(line);
}
