/** Where the host lets faults in: each operation goes through `withFault`, which a matching rule delays, drops or breaks. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultPlan, FaultRule, Faults } from '../faults/index.js';

const operations = ['invoke', 'startOrchestration', 'raiseEvent', 'turn', 'activity'] as const;

/** The operations that rules can name. */
export type HostOperation = (typeof operations)[number];

/** Refuses rules that name operations the host does not have, so that a rule never silently does nothing. */
export function checkFaultPlan(plan: FaultPlan | undefined): void {
  const problems = (plan?.rules ?? []).flatMap(({ operation }, index) =>
    operations.some((known) => known === operation)
      ? []
      : [`rules[${index}].operation "${operation}" must be one of ${operations.join(', ')}`],
  );
  if (problems.length > 0) throw new Error(`The Functions host's fault plan is wrong: ${problems.join('; ')}.`);
}

/** A fault refused the operation; `message` is the error that the rule names. */
export class RefusedByFault extends Error {
  override readonly name = 'RefusedByFault';
}

/** A fault cut the operation off: whoever waits for it gets no answer. */
export class CutByFault extends Error {
  override readonly name = 'CutByFault';
}

/** Which operation runs, and what stands for its result when a fault drops it. */
export interface FaultPoint<T> {
  readonly operation: HostOperation;
  readonly entity: string;
  readonly dropped: () => T;
}

/** Runs the operation, or does to it what the first matching rule says. */
export async function withFault<T>(faults: Faults, point: FaultPoint<T>, run: () => Promise<T>): Promise<T> {
  const rule = faults.decide(point.operation, point.entity);
  return rule === undefined ? run() : applyRule(faults, rule, point, run);
}

async function applyRule<T>(faults: Faults, rule: FaultRule, point: FaultPoint<T>, run: () => Promise<T>): Promise<T> {
  const cut = (when: string): CutByFault =>
    new CutByFault(`${point.operation} of '${point.entity}' was cut off ${when} it was done.`);
  switch (rule.action) {
    case 'delay':
      await sleep(rule.delayMs ?? 0);
      return run();
    case 'pause':
      await faults.whenReplaced();
      return run();
    case 'drop':
      return point.dropped();
    case 'duplicate':
      await run();
      return run();
    case 'refuse':
      throw new RefusedByFault(rule.error ?? '503');
    case 'cutBeforeCommit':
      throw cut('before');
    case 'cutAfterCommit':
      await run();
      throw cut('after');
  }
}
