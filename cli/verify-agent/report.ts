/** What the checks found, for people and for programs. */
import { drawTable } from '../terminal/table.js';
import type { Cell, Column } from '../terminal/table.js';
import type { Screen } from '../terminal/screen.js';
import type { CheckResult } from './checks/all.js';
import type { Finding } from './finding.js';

const columns: readonly Column[] = [{ title: 'check' }, { title: 'result' }, { title: 'seen', isFlexible: true }];

const cells = {
  passed: { text: 'passed', style: 'good' },
  failed: { text: 'FAILED', style: 'bad' },
  notApplicable: { text: 'not applicable', style: 'dim' },
} as const satisfies Record<Finding['kind'], Cell>;

/** The results as a table, what is to be done about each failure, and a last line with the counts. */
export function drawReport(results: readonly CheckResult[], view: Pick<Screen, 'width' | 'paint'>): readonly string[] {
  const rows = results.map(({ check, finding }) => [check.title, cells[finding.kind], finding.seen]);
  return [...drawTable(columns, rows, view), '', ...results.flatMap(explainFailure), countsLine(results)];
}

/** In full: the table cuts what does not fit. */
function explainFailure({ check, finding }: CheckResult): readonly string[] {
  return finding.kind === 'failed'
    ? [`${check.title} (${check.id})`, `  seen  ${finding.seen}`, `  rule  ${check.rule}`, '']
    : [];
}

function countsLine(results: readonly CheckResult[]): string {
  const count = (kind: Finding['kind']): number => results.filter(({ finding }) => finding.kind === kind).length;
  return `${count('passed')} passed, ${count('failed')} failed, ${count('notApplicable')} not applicable.`;
}

/** The results as one JSON document. */
export function reportAsJson(results: readonly CheckResult[]): string {
  const checks = results.map(({ check: { id, title, rule }, finding: { kind, seen } }) => ({
    id,
    title,
    rule,
    result: kind,
    seen,
  }));
  return JSON.stringify({ passed: !hasFailed(results), checks }, null, 2);
}

/** Whether the agent breaks the contract. */
export function hasFailed(results: readonly CheckResult[]): boolean {
  return results.some(({ finding }) => finding.kind === 'failed');
}
