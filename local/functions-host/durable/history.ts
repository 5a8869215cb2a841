/** The events of an orchestration's history, in the form the durable-functions library reads. */

/** Numbers of the event types. */
export const eventTypes = {
  executionStarted: 0,
  executionCompleted: 1,
  executionFailed: 2,
  executionTerminated: 3,
  taskScheduled: 4,
  taskCompleted: 5,
  taskFailed: 6,
  subOrchestrationInstanceCreated: 7,
  subOrchestrationInstanceCompleted: 8,
  subOrchestrationInstanceFailed: 9,
  timerCreated: 10,
  timerFired: 11,
  orchestratorStarted: 12,
  orchestratorCompleted: 13,
  eventRaised: 15,
  continueAsNew: 16,
  executionSuspended: 19,
  executionResumed: 20,
} as const;

/** What an activity's or sub-orchestration's failure carries beside its text. */
export interface FailureDetails {
  readonly ErrorType: string;
  readonly ErrorMessage: string;
  readonly StackTrace: string;
  readonly IsNonRetriable: boolean;
  readonly Properties: unknown;
}

/** One event; which fields it has depends on its type. Values travel as JSON text. */
export interface HistoryEvent {
  readonly EventType: number;
  /** Task id of what was scheduled; -1 on all other events. */
  readonly EventId: number;
  readonly Timestamp: string;
  readonly Name?: string;
  readonly Input?: string | null;
  readonly Version?: string | null;
  readonly InstanceId?: string;
  readonly TaskScheduledId?: number;
  readonly TimerId?: number;
  readonly FireAt?: string;
  readonly Result?: string;
  readonly Reason?: string;
  readonly Details?: string;
  readonly FailureDetails?: FailureDetails;
}

/** The id of the task that this event ends; undefined for events that end none. */
export function endedTaskId(event: HistoryEvent): number | undefined {
  switch (event.EventType) {
    case eventTypes.taskCompleted:
    case eventTypes.taskFailed:
    case eventTypes.subOrchestrationInstanceCompleted:
    case eventTypes.subOrchestrationInstanceFailed:
      return event.TaskScheduledId;
    case eventTypes.timerFired:
      return event.TimerId;
    default:
      return undefined;
  }
}

/** Whether the event puts a task on its way: an activity, a timer or a sub-orchestration. */
export function isScheduling(event: HistoryEvent): boolean {
  const { taskScheduled, timerCreated, subOrchestrationInstanceCreated } = eventTypes;
  return [taskScheduled, timerCreated, subOrchestrationInstanceCreated].some((type) => type === event.EventType);
}

/** Whether the event says that a task succeeded. */
export function isSuccess(event: HistoryEvent): boolean {
  return event.EventType !== eventTypes.taskFailed && event.EventType !== eventTypes.subOrchestrationInstanceFailed;
}
