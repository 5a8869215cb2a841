/**
 * A turn whose orchestrator could not run to its end: its worker died, no worker was there, or a hook of the app threw.
 * For the runtime that is the orchestrator's own failure, and it looks at the history before it looks at the error: what
 * an earlier turn scheduled and this one did not is reported as a change of the workflow.
 * Source: TaskOrchestrationShim of the durable extension, TaskOrchestrationContext of DurableTask.Core.
 */
import { CutByFault, RefusedByFault } from '../faults.js';
import { FunctionTimeoutError } from '../invocation.js';
import { eventTypes, isScheduling, type HistoryEvent } from './history.js';
import type { Instance } from './instance.js';

/** Whether the runtime gives the turn back and runs it again. */
export function isRepeatable(error: unknown): boolean {
  return [FunctionTimeoutError, RefusedByFault, CutByFault].some((kind) => error instanceof kind);
}

/** The output of an instance that failed in such a turn. */
export function lostTurnText({ name, history }: Instance, error: unknown): string {
  const scheduled = history.find(isScheduling);
  if (scheduled !== undefined) return `Non-Deterministic workflow detected: ${missingTask(scheduled)}`;
  const message = error instanceof Error ? error.message : String(error);
  return `Orchestrator function '${name}' failed: One or more errors occurred. (${message})`;
}

function missingTask({ EventType: type, EventId: id, Name: name = '', ...event }: HistoryEvent): string {
  const version = event.Version ?? '';
  const change = 'Was a change made to the orchestrator code after this instance had already started running?';
  const missing = `the current replay execution hasn't (yet?) scheduled this task. ${change}`;
  const scheduled = 'A previous execution of this orchestration scheduled';
  if (type === eventTypes.timerCreated) return `${scheduled} a timer task with sequence number ${id} but ${missing}`;
  if (type === eventTypes.taskScheduled) {
    return `${scheduled} an activity task with sequence ID ${id} and name '${name}' (version '${version}'), but ${missing}`;
  }
  const child = `(version '${version}', instance ID '${event.InstanceId ?? ''}')`;
  return `${scheduled} a sub-orchestration task with sequence ID ${id} and name '${name}' ${child}, but ${missing}`;
}
