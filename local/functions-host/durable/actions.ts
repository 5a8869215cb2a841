/** What an orchestrator asks for, in the form the durable-functions library reports it. */

/** Numbers of the action types. */
export const actionTypes = {
  callActivity: 0,
  callActivityWithRetry: 1,
  callSubOrchestrator: 2,
  callSubOrchestratorWithRetry: 3,
  continueAsNew: 4,
  createTimer: 5,
  waitForExternalEvent: 6,
  callEntity: 7,
  callHttp: 8,
  signalEntity: 9,
  whenAny: 11,
  whenAll: 12,
  lockEntities: 13,
  releaseEntities: 14,
} as const;

/** One action; which fields it has depends on its type. The same object comes again when a task is yielded again. */
export interface Action {
  readonly actionType: number;
  readonly functionName?: string;
  readonly input?: unknown;
  readonly instanceId?: string;
  readonly version?: string;
  readonly retryOptions?: RetryOptions;
  readonly fireAt?: Date | string | null;
  readonly isCanceled?: boolean;
  readonly externalEventName?: string;
  readonly compoundActions?: readonly Action[];
}

/** How often and when a failed call is repeated. */
export interface RetryOptions {
  readonly firstRetryIntervalInMilliseconds: number;
  readonly maxNumberOfAttempts: number;
  readonly backoffCoefficient?: number;
  readonly maxRetryIntervalInMilliseconds?: number;
  readonly retryTimeoutInMilliseconds?: number;
}

/** The orchestrator broke a rule of Durable Functions: its instance fails with this explanation. */
export class OrchestrationRuleError extends Error {
  override readonly name = 'OrchestrationRuleError';
}

const refusals: ReadonlyMap<number, string> = new Map([
  [actionTypes.callEntity, 'context.df.callEntity'],
  [actionTypes.signalEntity, 'context.df.signalEntity'],
  [actionTypes.lockEntities, 'context.df.lock'],
  [actionTypes.releaseEntities, 'context.df.lock'],
  [actionTypes.callHttp, 'context.df.callHttp'],
]);

/** The error for an action that this host refuses. */
export function refusedAction(action: Action): OrchestrationRuleError {
  const api = refusals.get(action.actionType) ?? `Action ${action.actionType}`;
  const instead =
    action.actionType === actionTypes.callHttp
      ? 'Make the HTTP call in an activity.'
      : 'Keep the state in a database, or test against Azure or Core Tools.';
  return new OrchestrationRuleError(`${api} is not supported by the local Functions host. ${instead}`);
}

/**
 * Fails when an activity, timer or sub-orchestration occurs twice among the actions: an unfinished task was yielded again
 * in a new Task.any or Task.all. Azure would schedule it a second time, its task ids would run apart from the library's,
 * and the instance would hang or take another task's result.
 */
export function assertNothingYieldedTwice(actions: readonly Action[], seen = new Set<Action>()): void {
  for (const action of actions) {
    if (action.compoundActions !== undefined) assertNothingYieldedTwice(action.compoundActions, seen);
    else if (action.actionType !== actionTypes.waitForExternalEvent) assertNew(action, seen);
  }
}

function assertNew(action: Action, seen: Set<Action>): void {
  if (!seen.has(action)) {
    seen.add(action);
    return;
  }
  const isTimer = action.actionType === actionTypes.createTimer;
  const what = isTimer ? 'A durable timer' : `The task of "${action.functionName ?? '?'}"`;
  throw new OrchestrationRuleError(
    `${what} was yielded again inside a new Task.any or Task.all. Azure schedules it a second time, task ids run apart ` +
      'and the orchestration hangs. ' +
      (isTimer
        ? 'Create a fresh timer to the same deadline for each race, and cancel it when it loses.'
        : 'Yield each task once, or yield it on its own afterwards.'),
  );
}

/** JSON text of an action's input. Strings given to activities and to continueAsNew are encoded already. */
export function inputJson(action: Action): string {
  const { input = null } = action;
  return typeof input === 'string' && !isSubOrchestration(action) ? input : JSON.stringify(input);
}

function isSubOrchestration({ actionType }: Action): boolean {
  return actionType === actionTypes.callSubOrchestrator || actionType === actionTypes.callSubOrchestratorWithRetry;
}
