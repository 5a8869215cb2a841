/**
 * What fault rules do to requests. Operations are those of the counters, entities are container names.
 *
 * Invariant
 * K1 `cutAfterCommit` closes the connection only after the change is durable; `cutBeforeCommit`, `drop` and `refuse`
 *    change nothing.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { FaultPlan, FaultRule, Faults } from '../faults/index.js';
import type { Operation } from './operations.js';
import { ITEM_WRITES, OPERATIONS } from './operations.js';
import { codeOfStatus } from './wire-errors.js';

/** What is left to do with a request once its fault has had its say. */
export type Verdict = 'answer' | 'answerWithoutEffect' | 'answerTwice' | 'cut' | 'cutAfterCommit';

function isOneOf(operations: readonly Operation[], name: string): boolean {
  return (operations as readonly string[]).includes(name);
}

function problemOf(rule: FaultRule): string | undefined {
  if (!isOneOf(OPERATIONS, rule.operation)) return `operation "${rule.operation}" is none of ${OPERATIONS.join(', ')}`;
  if (rule.action === 'drop' && !isOneOf(ITEM_WRITES, rule.operation))
    return `"${rule.operation}" changes nothing that could be dropped`;
  if (rule.action === 'delay' && rule.delayMs === undefined) return `"delay" needs delayMs`;
  if (rule.action === 'refuse' && codeOfStatus(Number(rule.error)) === 'Error') {
    return `"refuse" needs error to be an HTTP status of the service, "503" for example, not "${rule.error ?? ''}"`;
  }
  return undefined;
}

/** Refuses a plan that this part cannot carry out, naming the rule. */
export function checkFaultPlan(plan: FaultPlan | undefined): void {
  for (const [index, rule] of (plan?.rules ?? []).entries()) {
    const problem = problemOf(rule);
    if (problem !== undefined) throw new Error(`Cosmos DB fault rule ${index + 1}: ${problem}.`);
  }
}

/** Carries out a rule that takes time and says what is to be done then; 'refuse' is not asked here. */
export async function sitOut(rule: FaultRule, faults: Faults): Promise<Verdict> {
  switch (rule.action) {
    case 'delay':
      await wait(rule.delayMs ?? 0);
      return 'answer';
    case 'pause':
      await faults.whenReplaced();
      return 'answer';
    case 'drop':
      return 'answerWithoutEffect';
    case 'duplicate':
      return 'answerTwice';
    case 'cutBeforeCommit':
      return 'cut';
    case 'cutAfterCommit':
      return 'cutAfterCommit';
    case 'refuse':
      return 'answer';
  }
}
