/** An order's record, for reading. */
import { drawTable } from '../terminal/table.js';
import type { Cell, Column, TableLayout } from '../terminal/table.js';
import type { Paint, Style } from '../terminal/paint.js';
import { isTerminal } from './order-record.js';
import type { OrderRecord } from './order-record.js';

/** Where it is shown. */
export interface View {
  readonly width: number;
  readonly paint: Paint;
}

const stateStyles: Readonly<Record<string, Style>> = {
  Processed: 'good',
  Completed: 'good',
  Done: 'good',
  Compensated: 'good',
  Error: 'bad',
  CompensationFailed: 'bad',
  Failed: 'bad',
  Refused: 'bad',
  NotStarted: 'dim',
  Skipped: 'dim',
};

/** A state in its colour. */
export function stateCell(state: string): Cell {
  return { text: state, style: stateStyles[state] ?? 'busy' };
}

/** The record as lines: what it is now, its steps, what is to be undone, what waits to be sent, and how it came here. */
export function viewRecord(record: OrderRecord, view: View): readonly string[] {
  const layout = { ...view, indent: '  ' };
  return [
    `${view.paint('strong', record.orderId)}  ${record.processState}`,
    ...headLines(record),
    ...section('Steps', stepColumns, record.steps.map(stepRow), layout),
    ...section(
      'Compensation log, undone from the last to the first',
      compensationColumns,
      compensationRows(record),
      layout,
    ),
    ...section('Status messages that wait to be sent', outboxColumns, outboxRows(record), layout),
    ...section('History', historyColumns, historyRows(record), layout),
  ];
}

function headLines(record: OrderRecord): readonly string[] {
  const { budget, error, lockedBy, completeBy } = record;
  const owner = lockedBy === null ? 'nobody' : `${lockedBy}${completeBy === null ? '' : `, complete by ${completeBy}`}`;
  const waits = !isTerminal(record) && lockedBy === null ? [`  waits until      ${record.notBefore}`] : [];
  const undoFailures = record.compensationFailureCount;
  return [
    `  application      ${record.application}, priority ${record.priority}, workflow version ${record.workflowVersion}`,
    `  attempt          ${record.attempt}, failed ${record.failureCount}${undoFailures === 0 ? '' : `, undo failed ${undoFailures}`}`,
    `  owned by         ${owner}`,
    ...waits,
    `  retry budget     spent ${budget.spent} of ${budget.allowed} calls`,
    `  created          ${record.createdAt}, updated ${record.updatedAt}, expires ${record.expiresAt}`,
    ...(error === null ? [] : [`  error            ${error.code}: ${error.message}${atStep(error.stepId)}`]),
  ];
}

function atStep(stepId: string | null): string {
  return stepId === null ? '' : ` (step ${stepId})`;
}

function section(
  title: string,
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  layout: TableLayout,
): readonly string[] {
  return rows.length === 0 ? [] : ['', title, ...drawTable(columns, rows, layout)];
}

const stepColumns: readonly Column[] = [
  { title: 'step' },
  { title: 'state' },
  { title: 'started' },
  { title: 'took', align: 'right' },
  { title: 'outcome', isFlexible: true },
];

function stepRow(step: OrderRecord['steps'][number]): readonly Cell[] {
  const { id, state, startedAt, endedAt, result, error, failureCount } = step;
  const took = startedAt !== null && endedAt !== null ? `${Date.parse(endedAt) - Date.parse(startedAt)} ms` : '';
  const fields = Object.entries(result ?? {}).map(([name, value]) => `${name} ${String(value)}`);
  const outcome = error === null ? fields : [`${error.code}: ${error.message}`];
  return [id, stateCell(state), timeOf(startedAt), took, [...failures(failureCount), ...outcome].join(', ')];
}

/** Attempts that failed there, if there were any. */
function failures(count = 0): readonly string[] {
  return count === 0 ? [] : [`failed ${count}×`];
}

const compensationColumns: readonly Column[] = [
  { title: '#', align: 'right' },
  { title: 'step' },
  { title: 'action' },
  { title: 'state' },
  { title: 'key', isFlexible: true },
];

function compensationRows({ compensation }: OrderRecord): readonly (readonly Cell[])[] {
  return compensation.map(({ seq, stepId, action, state, key, failureCount }) => {
    const keyAndFailures = [key, ...failures(failureCount)].join(', ');
    return [`${seq}`, stepId, action, stateCell(state), keyAndFailures];
  });
}

const outboxColumns: readonly Column[] = [{ title: '#', align: 'right' }, { title: 'status' }, { title: 'since' }];

function outboxRows({ outbox }: OrderRecord): readonly (readonly Cell[])[] {
  return outbox.map(({ seq, kind, at }) => [`${seq}`, kind, timeOf(at)]);
}

const historyColumns: readonly Column[] = [
  { title: 'time' },
  { title: 'attempt', align: 'right' },
  { title: 'who' },
  { title: 'state' },
  { title: 'what', isFlexible: true },
];

function historyRows({ history }: OrderRecord): readonly (readonly Cell[])[] {
  return history.map(({ at, attempt, actor, from, to, note }) => {
    const state = from === null || from === to ? to : `${from} → ${to}`;
    return [timeOf(at), `${attempt}`, actor, state, note];
  });
}

/** The time of day of a timestamp, in UTC as everything stored. */
export function timeOf(timestamp: string | null): string {
  return timestamp === null ? '' : timestamp.slice(11, 23);
}
