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

/** One action; which fields it has depends on its type. */
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

/** The library's answer to a turn. */
export interface OrchestratorState {
  readonly isDone: boolean;
  readonly actions: readonly (readonly Action[])[];
  readonly output?: unknown;
  readonly error?: string;
  readonly customStatus?: unknown;
  /** Why the instance has to fail: a task was yielded again; added by the worker. */
  readonly yieldedTwice?: string;
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

/** JSON text of an action's input. Strings given to activities and to continueAsNew are encoded already. */
export function inputJson(action: Action): string {
  const { input = null } = action;
  return typeof input === 'string' && !isSubOrchestration(action) ? input : JSON.stringify(input);
}

function isSubOrchestration({ actionType }: Action): boolean {
  return actionType === actionTypes.callSubOrchestrator || actionType === actionTypes.callSubOrchestratorWithRetry;
}
