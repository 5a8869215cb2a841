/** Where the host lets faults in: each operation goes through `withFault`, which a matching rule delays, drops or breaks. */
import { setTimeout as sleep } from 'node:timers/promises';
import { faultActions, type FaultAction, type FaultPlan, type FaultRule, type Faults } from '../faults/index.js';

const operations = ['invoke', 'worker', 'startOrchestration', 'firstTurn', 'raiseEvent', 'turn', 'activity'] as const;

/** The operations that rules can name. */
export type HostOperation = (typeof operations)[number];

/** Actions of the operations that not every action makes sense for. */
const actionsOf: Readonly<Record<string, readonly FaultAction[]>> = {
  firstTurn: ['delay', 'pause'],
  worker: ['cutBeforeCommit', 'cutAfterCommit'],
};

/** Throws for rules that this host cannot carry out, so that a rule never silently does nothing. */
export function checkFaultPlan(plan: FaultPlan | undefined): void {
  const problems = (plan?.rules ?? []).flatMap((rule, index) =>
    ruleProblems(rule).map((problem) => `rules[${index}].${problem}`),
  );
  if (problems.length > 0) throw new Error(`The Functions host's fault plan is wrong: ${problems.join('; ')}.`);
}

function ruleProblems({ operation, action }: FaultRule): string[] {
  if (!operations.some((known) => known === operation)) {
    return [`operation "${operation}" must be one of ${operations.join(', ')}`];
  }
  const possible = actionsOf[operation] ?? faultActions;
  return possible.includes(action) ? [] : [`action "${action}" of ${operation} must be one of ${possible.join(', ')}`];
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

/** Resolves when the first turn of a new instance may run; undefined if no rule holds it. */
export function heldFirstTurn(faults: Faults, orchestrator: string): Promise<void> | undefined {
  const rule = faults.decide('firstTurn', orchestrator);
  if (rule === undefined) return undefined;
  return rule.action === 'pause' ? faults.whenReplaced() : sleep(rule.delayMs ?? 0, undefined, { ref: false });
}
