/** Whether the demo showed what it is to show. */
import { isFinal } from '../../client/index.js';
import { isTerminal } from '../orders/order-record.js';
import type { DeadLetter, Ledger, OrderEvidence } from './evidence.js';
import type { Expectation } from './sample.js';

/** Effects of an order at the remote services. */
export interface Effects {
  readonly done: number;
  /** How many of those were done a second time for the same order and service. */
  readonly repeated: number;
  readonly undone: number;
}

/** Counts the effects, those done twice, and those that were undone again. */
export function countEffects(ledger: Ledger): Effects {
  const effects = ledger.filter(({ effect }) => effect !== null);
  const repeated = ledger.reduce((sum, { furtherKeys }) => sum + furtherKeys.length, 0);
  const undone = effects.filter(({ undo }) => undo !== null).length;
  return { done: effects.length + repeated, repeated, undone };
}

/** What is wrong with an order; nothing when it ended as it must. */
export function judgeOrder({ orderId, record, statuses, ledger }: OrderEvidence, expected: Expectation): string[] {
  if (record === undefined) return [`${orderId} has no record`];
  const { done, repeated, undone } = countEffects(ledger);
  const ends = statuses.filter(isFinal);
  const checks: readonly (readonly [holds: boolean, problem: string])[] = [
    [record.processState === expected.endsAs, `is ${record.processState}, not ${expected.endsAs}`],
    [isTerminal(record) && record.attempt >= expected.attempts, `made ${record.attempt} attempts`],
    [ends.length === 1, `has ${ends.length} final status messages, not one`],
    [ends[0]?.status === expected.status, `ended with the status ${ends[0]?.status ?? 'none'}, not ${expected.status}`],
    [done === expected.effects, `had ${done} effects at the remote services, not ${expected.effects}`],
    [repeated === 0, `had ${repeated} effects twice`],
    [undone === expected.undone, `had ${undone} effects undone, not ${expected.undone}`],
  ];
  return checks.filter(([holds]) => !holds).map(([, problem]) => `${orderId} ${problem}`);
}

/** What is wrong with the dead letters. */
export function judgeDeadLetters(letters: readonly DeadLetter[], expectedReasons: readonly string[]): string[] {
  const reasons = letters.map(({ reason }) => reason).sort();
  const isAsExpected = reasons.join() === [...expectedReasons].sort().join();
  return isAsExpected ? [] : [`the dead letters are [${reasons.join(', ')}], not [${expectedReasons.join(', ')}]`];
}
