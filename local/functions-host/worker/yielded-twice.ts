/**
 * Finds an activity, timer or sub-orchestration that occurs twice among an orchestrator's actions: an unfinished task was
 * yielded again in a new Task.any or Task.all. Azure schedules it a second time, its task ids run apart from the library's,
 * and the instance hangs or takes another task's result. The library reports the same object again then, which its JSON no
 * longer shows: so the worker looks, and tells the host beside the library's answer.
 */
import type { FunctionCallback } from '../core-api.js';
import { actionTypes, type Action, type OrchestratorState } from '../durable/actions.js';

/** The orchestrator function, with what it yielded twice in its answer. */
export function reportingRepeats(orchestrator: FunctionCallback): FunctionCallback {
  return async (...args) => {
    const state = (await orchestrator(...args)) as OrchestratorState;
    const yieldedTwice = findRepeated(state.actions[0] ?? [], new Set());
    return yieldedTwice === undefined ? state : { ...state, yieldedTwice };
  };
}

function findRepeated(actions: readonly Action[], seen: Set<Action>): string | undefined {
  for (const action of actions) {
    const inside = action.compoundActions === undefined ? undefined : findRepeated(action.compoundActions, seen);
    if (inside !== undefined) return inside;
    const canRepeat = action.compoundActions !== undefined || action.actionType === actionTypes.waitForExternalEvent;
    if (canRepeat) continue;
    if (seen.has(action)) return explanation(action);
    seen.add(action);
  }
  return undefined;
}

function explanation(action: Action): string {
  const isTimer = action.actionType === actionTypes.createTimer;
  const what = isTimer ? 'A durable timer' : `The task of "${action.functionName ?? '?'}"`;
  return (
    `${what} was yielded again inside a new Task.any or Task.all. Azure schedules it a second time, task ids run apart ` +
    'and the orchestration hangs. ' +
    (isTimer
      ? 'Create a fresh timer to the same deadline for each race, and cancel it when it loses.'
      : 'Yield each task once, or yield it on its own afterwards.')
  );
}
