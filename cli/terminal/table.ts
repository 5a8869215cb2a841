/** Tables in plain text: columns as wide as their content, one of them cut when the line would not fit. */
import type { Style } from './paint.js';

/** A cell; a style colours its text on a terminal. */
export type Cell = string | { readonly text: string; readonly style: Style };

/** A column of a table. */
export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** The column that is cut when the table is wider than the screen. */
  readonly isFlexible?: boolean;
}

/** How a table is drawn. */
export interface TableLayout {
  /** Widest line; absent: any width. */
  readonly width?: number;
  readonly indent?: string;
  readonly paint?: (style: Style, text: string) => string;
}

const gap = '  ';
const smallestFlexibleWidth = 8;

/** Draws a table as lines: the titles, then the rows. */
export function drawTable(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  layout: TableLayout = {},
): string[] {
  const { indent = '', paint = plain } = layout;
  const widths = fittingWidths(columns, rows, layout);
  const titles = columns.map(({ title }): Cell => ({ text: title, style: 'dim' }));
  return [titles, ...rows].map((row) => {
    const cells = columns.map((column, index) => drawCell(row[index] ?? '', column, widths[index] ?? 0, paint));
    return `${indent}${cells.join(gap)}`.trimEnd();
  });
}

/** Cuts a text to a number of characters, with an ellipsis in place of what is cut. */
export function cut(text: string, width: number): string {
  const characters = Array.from(text);
  return characters.length <= width ? text : `${characters.slice(0, Math.max(0, width - 1)).join('')}…`;
}

function plain(_style: Style, text: string): string {
  return text;
}

function drawCell(cell: Cell, column: Column, width: number, paint: NonNullable<TableLayout['paint']>): string {
  const text = cut(textOf(cell), width);
  const padding = ' '.repeat(width - lengthOf(text));
  const painted = typeof cell === 'string' ? text : paint(cell.style, text);
  return column.align === 'right' ? `${padding}${painted}` : `${painted}${padding}`;
}

function fittingWidths(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  { width = Infinity, indent = '' }: TableLayout,
): number[] {
  const widths = columns.map(({ title }, index) =>
    Math.max(title.length, ...rows.map((row) => lengthOf(textOf(row[index] ?? '')))),
  );
  const total = widths.reduce((sum, each) => sum + each, indent.length + gap.length * (columns.length - 1));
  const surplus = Math.max(0, total - width);
  return widths.map((each, index) =>
    columns[index]?.isFlexible === true ? Math.min(each, Math.max(smallestFlexibleWidth, each - surplus)) : each,
  );
}

function lengthOf(text: string): number {
  return Array.from(text).length;
}

/** Line breaks would tear the table apart; other control characters could steer the terminal. */
function textOf(cell: Cell): string {
  return (typeof cell === 'string' ? cell : cell.text).replaceAll(/\p{Cc}+/gu, ' ');
}
