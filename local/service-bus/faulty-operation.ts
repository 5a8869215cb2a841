/** Runs an operation as the fault rules say. */
import { faultActions, type FaultAction, type FaultPlan, type FaultRule } from '../faults/index.js';
import type { BrokerContext } from './context.js';
import { wireErrors, type WireError } from './errors.js';

/** One operation of a client, cut where a fault can strike. */
export interface Operation<T> {
  readonly name: OperationName;
  readonly entity: string;
  /** Does it durably, without telling the client. */
  readonly run: () => Promise<T>;
  /** Does it a second time, past what keeps repeats out; absent: `run` once more. */
  readonly runAgain?: () => Promise<T>;
  readonly answer: (result: T) => void;
  /** Answers as if it had been done; where that is impossible, does nothing: the request is lost. */
  readonly pretend: () => void;
  readonly refuse: (error: WireError) => void;
  /** Ends the client's connection without a word. */
  readonly cut: () => void;
}

/** The operations that rules can name. */
export type OperationName = 'send' | 'deliver' | 'settle' | 'attach' | 'authorize' | 'management';

/** What makes no sense is refused, so that a rule never silently does nothing. */
const actionsByOperation: Readonly<Record<OperationName, readonly FaultAction[]>> = {
  send: faultActions,
  deliver: faultActions.filter((action) => action !== 'refuse'),
  settle: faultActions,
  attach: faultActions.filter((action) => action !== 'duplicate'),
  authorize: faultActions.filter((action) => action !== 'duplicate'),
  management: faultActions,
};

/** Refuses rules that name operations or actions the broker does not have. */
export function checkFaultPlan(plan: FaultPlan | undefined): void {
  const problems = (plan?.rules ?? []).flatMap(({ operation, action }, index) => {
    const actions = Object.entries(actionsByOperation).find(([name]) => name === operation)?.[1];
    if (actions === undefined) {
      return [`rules[${index}].operation must be one of ${Object.keys(actionsByOperation).join(', ')}`];
    }
    return actions.includes(action)
      ? []
      : [`rules[${index}].action of ${operation} must be one of ${actions.join(', ')}`];
  });
  if (problems.length > 0) throw new Error(`The Service Bus fault plan is wrong: ${problems.join('; ')}.`);
}

/** Performs an operation; every way it can end is an answer to the client. */
export function perform<T>(context: BrokerContext, operation: Operation<T>): Promise<void> {
  return performUnder(context.faults.decide(operation.name, operation.entity), context, operation);
}

/** Performs an operation under a rule that is known already; never rejects. */
export async function performUnder<T>(
  rule: FaultRule | undefined,
  context: BrokerContext,
  operation: Operation<T>,
): Promise<void> {
  try {
    if (rule === undefined) operation.answer(await operation.run());
    else await performFaulty(context, operation, rule);
  } catch (error) {
    context.counters.add('', 'internalErrors');
    refuseOrCut(operation, error);
  }
}

function refuseOrCut<T>(operation: Operation<T>, reason: unknown): void {
  try {
    operation.refuse(wireErrors.internal(reason instanceof Error ? reason.message : String(reason)));
  } catch {
    operation.cut(); // The client cannot even be told.
  }
}

async function performFaulty<T>(context: BrokerContext, operation: Operation<T>, rule: FaultRule): Promise<void> {
  switch (rule.action) {
    case 'drop':
      operation.pretend();
      return;
    case 'refuse':
      operation.refuse(wireErrors.injected(rule.error ?? 'com.microsoft:server-busy'));
      return;
    case 'cutBeforeCommit':
      operation.cut();
      return;
    case 'cutAfterCommit':
      await operation.run();
      operation.cut();
      return;
    case 'duplicate':
      await operation.run();
      operation.answer(await (operation.runAgain ?? operation.run)());
      return;
    case 'delay':
    case 'pause':
      await hold(context, rule);
      operation.answer(await operation.run());
  }
}

/** Waits as a delay or pause asks. */
export async function hold({ clock, faults }: BrokerContext, rule: FaultRule): Promise<void> {
  if (rule.action === 'pause') await faults.whenReplaced();
  else await new Promise<void>((resolve) => clock.wake(clock.now() + (rule.delayMs ?? 0), resolve));
}
