/** The end of the demo, for reading. */
import { drawTable } from '../terminal/table.js';
import type { Cell, Column } from '../terminal/table.js';
import { stateCell } from '../orders/record-view.js';
import type { View } from '../orders/record-view.js';
import type { DeadLetter, OrderEvidence } from './evidence.js';
import { countEffects } from './verdict.js';

/** What the summary tells. */
export interface Summary {
  readonly orders: readonly OrderEvidence[];
  /** Further good orders, which are counted only. */
  readonly further: readonly OrderEvidence[];
  readonly deadLetters: readonly DeadLetter[];
  readonly problems: readonly string[];
  /** What the fault did, if there was one. */
  readonly fault: readonly string[];
  readonly elapsedMs: number;
}

const columns: readonly Column[] = [
  { title: 'order' },
  { title: 'ended as' },
  { title: 'attempts', align: 'right' },
  { title: 'status messages read' },
  { title: 'effects', align: 'right' },
  { title: 'undone', align: 'right' },
];

const deadLetterColumns: readonly Column[] = [
  { title: 'dead letter' },
  { title: 'reason' },
  { title: 'description', isFlexible: true },
];

/** The summary as lines. */
export function drawSummary(summary: Summary, view: View): readonly string[] {
  const { orders, further, deadLetters, fault, problems } = summary;
  const letters = deadLetters.map(({ messageId, reason, description }) => [messageId, reason, description]);
  return [
    '',
    ...drawTable(columns, orders.map(orderCells), view),
    '',
    ...drawTable(deadLetterColumns, letters, view),
    '',
    ...furtherLine(further),
    effectsLine([...orders, ...further]),
    ...fault,
    ...problems.map((problem) => view.paint('bad', `Wrong: ${problem}.`)),
    verdictLine(summary, view),
  ];
}

function orderCells({ orderId, record, statuses, ledger }: OrderEvidence): readonly Cell[] {
  const { done, undone } = countEffects(ledger);
  const read = statuses.map(({ status }) => status.replace(/^Order/, '')).join(', ');
  return [
    orderId,
    stateCell(record?.processState ?? 'no record'),
    `${record?.attempt ?? 0}`,
    read,
    `${done}`,
    `${undone}`,
  ];
}

function furtherLine(further: readonly OrderEvidence[]): readonly string[] {
  const processed = further.filter(({ record }) => record?.processState === 'Processed').length;
  return further.length === 0 ? [] : [`Further good orders: ${processed} of ${further.length} Processed.`];
}

function effectsLine(orders: readonly OrderEvidence[]): string {
  const { done, repeated, undone } = countEffects(orders.flatMap(({ ledger }) => ledger));
  const judgement = repeated === 0 ? 'Each remote service did each thing once' : `${repeated} effects happened twice`;
  return `${judgement}: ${done} effects in all, ${undone} of them undone.`;
}

function verdictLine({ orders, further, problems, elapsedMs }: Summary, view: View): string {
  const count = orders.length + further.length;
  const seconds = `${(elapsedMs / 1000).toFixed(1)} s`;
  return problems.length === 0
    ? view.paint('good', `All ${count} orders ended as they must, in ${seconds}.`)
    : view.paint('bad', `Not as it must be, after ${seconds}.`);
}
