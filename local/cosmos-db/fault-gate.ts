/**
 * What fault rules do to requests. Operations are those of the counters, entities are container names.
 *
 * Invariant
 * K1 `cutAfterCommit` closes the connection only after the change is durable; `cutBeforeCommit`, `drop` and `refuse`
 *    change nothing.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { FaultAction, FaultPlan, FaultRule, Faults } from '../faults/index.js';
import { ITEM_WRITES, OPERATIONS } from './operations.js';
import { readFaultError } from './wire-errors.js';

/** What is left to do with a request once its fault has had its say. */
export type Verdict = 'answer' | 'answerWithoutEffect' | 'answerTwice' | 'cut' | 'cutAfterCommit';

/** The operation of rules that put the replica behind which answers a read; not counted as an operation. */
const REPLICATION = 'replication';

const isWrite = (operation: string): boolean => ITEM_WRITES.some((name) => name === operation);

/** What a rule of an action must keep besides its common form, in the words of the refusal. */
const PROBLEM_OF: Readonly<Partial<Record<FaultAction, (rule: FaultRule) => string | undefined>>> = {
  drop: ({ operation }) => (isWrite(operation) ? undefined : `"${operation}" changes nothing that could be dropped`),
  delay: ({ delayMs }) => (delayMs === undefined ? `"delay" needs delayMs` : undefined),
  refuse: ({ error = '' }) =>
    readFaultError(error) === undefined
      ? `"refuse" needs error to be an HTTP status of the service, "503" or "404/1002" for example, not "${error}"`
      : undefined,
};

function problemOf(rule: FaultRule): string | undefined {
  const { operation, action } = rule;
  const operations: readonly string[] = [...OPERATIONS, REPLICATION];
  if (!operations.includes(operation)) return `operation "${operation}" is none of ${operations.join(', ')}`;
  if (operation === REPLICATION && action !== 'delay') return `"${REPLICATION}" can have "delay" only`;
  return PROBLEM_OF[action]?.(rule);
}

/** Refuses a plan that this part cannot carry out, naming the rule. */
export function checkFaultPlan(plan: FaultPlan | undefined): void {
  for (const [index, rule] of (plan?.rules ?? []).entries()) {
    const problem = problemOf(rule);
    if (problem !== undefined) throw new Error(`Cosmos DB fault rule ${index + 1}: ${problem}.`);
  }
}

/** How far the replica that answers a read is behind, in milliseconds; 0 without a rule that hits. */
export function replicaLagMs(faults: Faults, container: string): number {
  return faults.decide(REPLICATION, container)?.delayMs ?? 0;
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
