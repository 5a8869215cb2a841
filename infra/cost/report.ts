import type { Counts, Prices, Question } from './inputs.js';
import type { CostLine } from './model.js';

/** The bill as a table, the largest line first, and what dominates it. */
export function costReport(lines: readonly CostLine[], question: Question, counts: Counts, prices: Prices): string {
  const sorted = [...lines].sort((one, other) => other.high - one.high);
  const total = (end: 'low' | 'high'): number => lines.reduce((sum, line) => sum + line[end], 0);
  const rows = [
    ['', 'quantity', 'from', 'to'],
    ...sorted.map((line) => [line.name, line.quantity, money(line.low), money(line.high)]),
    ['Total', '', money(total('low')), money(total('high'))],
  ];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  const table = rows.map((row) =>
    row
      .map((cell, column) => (column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  '),
  );
  const perThousand = question.orders === 0 ? undefined : (total('high') / question.orders) * 1000;
  return [
    `${question.orders} orders a month, ${question.steps} steps each, in ${prices.currency}`,
    '',
    ...table,
    '',
    dominance(sorted, total('high')),
    ...(perThousand === undefined ? [] : [`A thousand orders cost at most ${money(perThousand)}.`]),
    `Prices last checked ${prices.lastChecked}: ${prices.source}.`,
    `Counts: ${counts.source}.`,
  ].join('\n');
}

function dominance(sorted: readonly CostLine[], total: number): string {
  const [first] = sorted;
  if (first === undefined || total === 0) return 'Nothing costs anything.';
  return `${first.name} dominates: up to ${Math.round((first.high / total) * 100)} % of the bill.`;
}

function money(amount: number): string {
  return amount.toFixed(2);
}
