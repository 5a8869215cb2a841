import type { InvocationContext } from '@azure/functions';
import { getClient, OrchestrationRuntimeStatus } from 'durable-functions';
import { TransientError } from '../state/errors.js';
import type { Orchestrations } from '../state/ports.js';

const finishedStatuses = [
  OrchestrationRuntimeStatus.Completed,
  OrchestrationRuntimeStatus.Failed,
  OrchestrationRuntimeStatus.Terminated,
];

/** The Durable Functions client of an invocation, as the starter and agent-reply need it; ids were validated before they get here (T18). */
export function createDurableOrchestrations(context: InvocationContext, orchestratorName: string): Orchestrations {
  const client = getClient(context);
  const exists = async (instanceId: string): Promise<boolean> => {
    try {
      await client.getStatus(instanceId, { showInput: false });
      return true;
    } catch (error) {
      if (isUnknownInstance(error)) return false;
      throw new TransientError(`runtime: status of ${instanceId} unknown`, { cause: error });
    }
  };

  return {
    exists,
    start: async (instanceId, input) => {
      try {
        await client.startNew(orchestratorName, { instanceId, input });
        return 'started';
      } catch {
        // The answer says little ("already exists" and real failures look alike): only the status tells (T3).
        return (await exists(instanceId)) ? 'started' : 'refused';
      }
    },
    purgeFinished: async (startedBefore) => {
      try {
        const { instancesDeleted } = await client.purgeInstanceHistoryBy({
          createdTimeFrom: new Date(0),
          createdTimeTo: new Date(startedBefore),
          runtimeStatus: finishedStatuses,
        });
        return instancesDeleted;
      } catch (error) {
        throw new TransientError('runtime: history not purged', { cause: error });
      }
    },
    raiseEvent: async (instanceId, eventName, payload) => {
      try {
        await client.raiseEvent(instanceId, eventName, payload);
        return 'raised';
      } catch (error) {
        if (isUnknownInstance(error)) return 'unknown';
        throw new TransientError(`runtime: event for ${instanceId} not taken`, { cause: error });
      }
    },
  };
}

/** The client has no error type for a 404; its message is the only sign. */
function isUnknownInstance(error: unknown): boolean {
  return error instanceof Error && /No instance with ID|replied with HTTP 404/.test(error.message);
}
