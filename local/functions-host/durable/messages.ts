/** What instances are made of and what they are sent. */
import { randomUUID } from 'node:crypto';
import { FunctionError } from '../worker-thread.js';
import type { HistoryEvent } from './history.js';
import { executionStarted, type Instance, type InstanceState, type Parent } from './instance.js';

/** A new orchestration. */
export interface StartRequest {
  readonly name: string;
  readonly instanceId?: string;
  readonly input: string;
  readonly version?: string | null;
  readonly parent?: Parent;
}

/** A new instance that has yet to run. */
export function newInstance(instanceId: string, request: StartRequest, defaultVersion: string | null): InstanceState {
  const at = new Date().toISOString();
  const start = { name: request.name, input: request.input, version: request.version ?? defaultVersion };
  return {
    ...start,
    instanceId,
    executionId: randomUUID().replaceAll('-', ''),
    createdTime: at,
    parent: request.parent ?? null,
    revision: 1,
    lastUpdatedTime: at,
    runtimeStatus: 'Pending',
    customStatus: null,
    output: null,
    history: [],
    inbox: [executionStarted(start, at)],
    cancelledTimers: [],
  };
}

/** Never before the events it takes, nor before the turn before it. */
export function turnTime(instance: Instance, batch: readonly HistoryEvent[]): string {
  const times = batch.map((event) => event.FireAt ?? event.Timestamp);
  return [new Date().toISOString(), instance.lastUpdatedTime, ...times].reduce((latest, time) =>
    time > latest ? time : latest,
  );
}

/** An event of this moment that belongs to no task. */
export function eventNow(eventType: number): HistoryEvent {
  return { EventType: eventType, EventId: -1, Timestamp: new Date().toISOString() };
}

/** The name under which a durable timer is armed. */
export function timerName(instance: Instance, id: number): string {
  return `${instance.executionId}/${id}`;
}

/** Whether both mean the same task of the same execution. */
export function isSameParent(one: Parent | null, other: Parent): boolean {
  return one !== null && one.executionId === other.executionId && one.taskId === other.taskId;
}

/** How an activity's error appears in the history; what is not an Error loses its text, as in Azure. */
export function activityFailure(name: string, error: unknown): Pick<HistoryEvent, 'Reason' | 'Details'> {
  const isError = error instanceof Error && !(error instanceof FunctionError && !error.isError);
  const message = isError ? error.message : 'undefined';
  const stack = isError ? (error.stack ?? '') : '';
  return { Reason: `Activity function '${name}' failed: ${message}`, Details: stack };
}

/** How the end of a sub-orchestration that did not complete appears in its parent's history. */
export function childFailure(child: InstanceState | Instance): Pick<HistoryEvent, 'Reason' | 'Details'> {
  const reason = child.output === null ? child.runtimeStatus : (JSON.parse(child.output) as string);
  return { Reason: reason, Details: '' };
}
