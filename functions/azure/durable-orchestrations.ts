import type { InvocationContext } from '@azure/functions';
import { getClient, OrchestrationRuntimeStatus } from 'durable-functions';
import type { DurableOrchestrationStatus } from 'durable-functions';
import { isTimedOut } from '../contracts/attempt-result.js';
import { TransientError } from '../state/errors.js';
import type { InstanceState, Orchestrations } from '../state/ports.js';

const finishedStatuses = [
  OrchestrationRuntimeStatus.Completed,
  OrchestrationRuntimeStatus.Failed,
  OrchestrationRuntimeStatus.Terminated,
];

/** The Durable Functions client of an invocation; ids were validated before they get here (T18). */
export function createDurableOrchestrations(context: InvocationContext, orchestratorName: string): Orchestrations {
  const client = getClient(context);
  const instanceState = async (instanceId: string): Promise<InstanceState> => {
    try {
      return stateOf(await client.getStatus(instanceId, { showInput: false }));
    } catch (error) {
      if (isUnknownInstance(error)) return 'unknown';
      throw new TransientError(`runtime: status of ${instanceId} unknown`, { cause: error });
    }
  };

  return {
    instanceState,
    start: async (instanceId, input) => {
      try {
        await client.startNew(orchestratorName, { instanceId, input });
        return 'started';
      } catch {
        // The answer says little ("already exists" and real failures look alike): only the status tells (T3).
        return (await instanceState(instanceId)) === 'unknown' ? 'refused' : 'started';
      }
    },
    terminate: async (instanceId) => {
      try {
        await client.terminate(instanceId, 'superseded');
      } catch (error) {
        throw new TransientError(`runtime: ${instanceId} could not be terminated`, { cause: error });
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

function stateOf({ runtimeStatus, output }: DurableOrchestrationStatus): InstanceState {
  const hasEnded = finishedStatuses.includes(runtimeStatus);
  if (!hasEnded) return 'underWay';
  return runtimeStatus === OrchestrationRuntimeStatus.Completed && isTimedOut(output) ? 'timedOut' : 'stopped';
}

/** The client has no error type for a 404; its message is the only sign. */
function isUnknownInstance(error: unknown): boolean {
  return error instanceof Error && /No instance with ID|replied with HTTP 404/.test(error.message);
}
