/**
 * What is known of the orders that are watched: from their records and from the statuses their application is sent.
 *
 * Invariants
 * W1 Each history entry and each status is told once, in the order of the history.
 * W2 The board is bounded: beyond its capacity the order that was added first is dropped.
 */
import type { StatusMessage } from '../../client/index.js';
import { drawTable } from '../terminal/table.js';
import type { Cell, Column } from '../terminal/table.js';
import { currentStep, isTerminal, lastHappening } from './order-record.js';
import type { OrderRecord } from './order-record.js';
import { stateCell, timeOf } from './record-view.js';
import type { View } from './record-view.js';
import { statusText } from './status-text.js';

/** One order on the board. */
export interface BoardRow {
  readonly orderId: string;
  readonly record: OrderRecord | undefined;
  readonly status: StatusMessage | undefined;
}

/** The board. */
export interface Board {
  add(orderId: string): void;
  /** Takes a status; answers what it tells, as lines. */
  noteStatus(status: StatusMessage): readonly string[];
  /** Takes the newest record of an order; answers what happened since the last one, as lines. */
  noteRecord(record: OrderRecord): readonly string[];
  rows(): readonly BoardRow[];
  /** Orders whose record may still change, as far as is known. */
  unfinished(): readonly string[];
}

/** Creates a board for at most `capacity` orders. */
export function createBoard(capacity: number): Board {
  const rows = new Map<string, BoardRow>();
  const rowOf = (orderId: string): BoardRow => rows.get(orderId) ?? { orderId, record: undefined, status: undefined };
  const put = (row: BoardRow): void => {
    rows.set(row.orderId, row);
    const [first] = rows.keys();
    if (rows.size > capacity && first !== undefined) rows.delete(first); // W2
  };
  return {
    add(orderId) {
      put(rowOf(orderId));
    },
    noteStatus(status) {
      const row = rowOf(status.orderId);
      if (row.status !== undefined && row.status.seq >= status.seq) return []; // W1
      put({ ...row, status });
      return [statusLine(status)];
    },
    noteRecord(record) {
      const row = rowOf(record.orderId);
      put({ ...row, record });
      return newEntries(row.record, record).map((entry) => entryLine(record.orderId, entry));
    },
    rows: () => [...rows.values()],
    unfinished: () => [...rows.values()].filter(mayChange).map(({ orderId }) => orderId),
  };
}

/** A record that has ended and a status that is older than it: nothing more is expected. */
function mayChange({ record, status }: BoardRow): boolean {
  if (record === undefined || !isTerminal(record)) return true;
  return status !== undefined && status.at > record.updatedAt;
}

type HistoryEntry = OrderRecord['history'][number];

function newEntries(before: OrderRecord | undefined, now: OrderRecord): readonly HistoryEntry[] {
  const last = before?.history.at(-1);
  if (last === undefined) return now.history;
  const isLast = (entry: HistoryEntry): boolean =>
    entry.at === last.at && entry.attempt === last.attempt && entry.note === last.note && entry.to === last.to;
  return now.history.slice(now.history.findLastIndex(isLast) + 1); // W1
}

const idWidth = 16;

function entryLine(orderId: string, { at, actor, to, attempt, note }: HistoryEntry): string {
  return `${timeOf(at)}  ${orderId.padEnd(idWidth)}  ${to.padEnd(12)}  attempt ${attempt}  ${actor}: ${note}`;
}

function statusLine(status: StatusMessage): string {
  return `${timeOf(status.at)}  ${status.orderId.padEnd(idWidth)}  status ${statusText(status)}`;
}

const timeWidth = 12;

/** Lines of a board in the order in which things happened, as far as their times tell. */
export function inOrderOfTime(lines: readonly string[]): readonly string[] {
  return [...lines].sort((a, b) => a.slice(0, timeWidth).localeCompare(b.slice(0, timeWidth)));
}

const columns: readonly Column[] = [
  { title: 'order' },
  { title: 'state' },
  { title: 'attempt', align: 'right' },
  { title: 'step' },
  { title: 'status' },
  { title: 'what just happened', isFlexible: true },
];

/** The board as a table. */
export function drawBoard(rows: readonly BoardRow[], view: View): string[] {
  return drawTable(columns, rows.map(boardCells), view);
}

function boardCells({ orderId, record, status }: BoardRow): readonly Cell[] {
  const sent = status?.status ?? '';
  if (record === undefined) return [orderId, '', '', '', sent, { text: 'no record yet', style: 'dim' }];
  const { processState, attempt } = record;
  return [orderId, stateCell(processState), `${attempt}`, currentStep(record), sent, lastHappening(record)];
}
