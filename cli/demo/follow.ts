/** Follows the orders of the demo until each has ended and its application knows. */
import { setTimeout as delay } from 'node:timers/promises';
import { isFinal } from '../../client/index.js';
import type { OrderClient, StatusMessage } from '../../client/index.js';
import { createBoard, drawBoard, inOrderOfTime } from '../orders/board.js';
import type { Board, BoardRow } from '../orders/board.js';
import { AppUnreachableError } from '../orders/order-api.js';
import type { OrderApi } from '../orders/order-api.js';
import { isTerminal } from '../orders/order-record.js';
import { refreshRecords } from '../orders/refresh-records.js';
import type { Screen } from '../terminal/screen.js';
import { cut } from '../terminal/table.js';

const pauseMs = 120;

/** What is followed. */
export interface Followed {
  readonly client: Pick<OrderClient, 'subscribe'>;
  readonly api: Pick<OrderApi, 'find'>;
  readonly orderIds: readonly string[];
  /** Called after each look. */
  readonly onLook: (rows: readonly BoardRow[]) => void;
  /** A line below the table, such as the progress of other orders. */
  readonly footLine: () => string;
}

/** Orders being followed. */
export interface Following {
  readonly statusesOf: (orderId: string) => readonly StatusMessage[];
  /** Resolves when all have ended; rejects when the signal aborts before. */
  untilAllHaveEnded(signal: AbortSignal): Promise<void>;
  /** Orders that have not ended yet. */
  open(): readonly string[];
}

/** Begins to read the application's status queue. */
export function followOrders(followed: Followed, screen: Screen): Following {
  const { client, orderIds } = followed;
  const board = createBoard(orderIds.length);
  for (const orderId of orderIds) board.add(orderId);
  const statuses = new Map<string, StatusMessage[]>();
  const news: string[] = [];
  client.subscribe((status) => {
    statuses.set(status.orderId, [...(statuses.get(status.orderId) ?? []), status]);
    if (orderIds.includes(status.orderId)) news.push(...board.noteStatus(status));
  });
  return {
    statusesOf: (orderId) => statuses.get(orderId) ?? [],
    open: () =>
      board
        .rows()
        .filter(isOpen)
        .map(({ orderId }) => orderId),
    async untilAllHaveEnded(signal) {
      for (;;) {
        signal.throwIfAborted();
        const outage = await lookAt(board, followed.api, news);
        tell(screen, inOrderOfTime(news.splice(0)));
        drawLive(board, [outage, followed.footLine()], screen);
        followed.onLook(board.rows());
        if (!board.rows().some(isOpen)) return;
        await delay(pauseMs, undefined, { signal });
      }
    },
  };
}

function isOpen({ record, status }: BoardRow): boolean {
  const hasEnded = record !== undefined && isTerminal(record);
  const isKnown = status !== undefined && isFinal(status);
  return !(hasEnded && isKnown);
}

/** Reads what may have changed; answers what is to be said when the app is down. */
async function lookAt(board: Board, api: Followed['api'], news: string[]): Promise<string> {
  try {
    await refreshRecords(api, board.unfinished(), (record) => news.push(...board.noteRecord(record)));
    return '';
  } catch (error) {
    if (error instanceof AppUnreachableError) return 'The Functions host is down.';
    throw error;
  }
}

function tell(screen: Screen, lines: readonly string[]): void {
  if (!screen.isLive) for (const line of lines) screen.print(line);
}

function drawLive(board: Board, foot: readonly string[], screen: Screen): void {
  const below = foot.filter((line) => line !== '').map((line) => cut(line, screen.width));
  screen.draw([...drawBoard(board.rows(), screen), ...below]);
}
