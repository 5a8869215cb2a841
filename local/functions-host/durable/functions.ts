/** Runs orchestrators and activities of the app through the invocation model. */
import type { Faults } from '../../faults/index.js';
import type { BoundFunction } from '../bindings.js';
import type { TypedData } from '../core-api.js';
import { heldFirstTurn, withFault } from '../faults.js';
import type { Invoke } from '../invocation.js';
import { activityInput, returnedJson, textData } from '../typed-data.js';
import type { InvokeActivity } from './effects.js';
import type { TaskHubOptions } from './task-hub.js';
import type { InvokeOrchestrator } from './turn.js';

/** The durable functions of an app. */
export interface DurableFunctions extends Pick<TaskHubOptions, 'holdFirstTurn' | 'disturbTurn'> {
  readonly invokeOrchestrator: InvokeOrchestrator;
  readonly invokeActivity: InvokeActivity;
  isOrchestrator(name: string): boolean;
}

/** Where orchestrators and activities come from. */
export interface DurableFunctionsOptions {
  readonly functions: readonly BoundFunction[];
  readonly invoke: Invoke;
  readonly faults: Faults;
}

/** Creates the invokers over the app's functions. */
export function createDurableFunctions(options: DurableFunctionsOptions): DurableFunctions {
  const { functions, invoke, faults } = options;
  const orchestrators = byName(functions, 'orchestrationTrigger');
  const activities = byName(functions, 'activityTrigger');

  async function invokeOrchestrator(name: string, data: TypedData): Promise<unknown> {
    const bound = orchestrators.get(name);
    if (bound === undefined) throw new Error(`the app has no orchestrator "${name}"`);
    const { returnValue } = await invoke({ fn: bound.fn, inputs: [{ name: bound.triggerName, data }] });
    return JSON.parse(returnedJson(returnValue));
  }

  async function invokeActivity(call: Parameters<InvokeActivity>[0]): Promise<string> {
    const bound = activities.get(call.name);
    if (bound === undefined) throw new Error(`the app has no activity "${call.name}"`);
    const data = activityInput(call.input);
    const { returnValue } = await invoke({
      fn: bound.fn,
      inputs: [{ name: bound.triggerName, data }],
      triggerMetadata: { instanceId: textData(call.instanceId), data },
    });
    return returnedJson(returnValue);
  }

  return {
    isOrchestrator: (name) => orchestrators.has(name),
    invokeOrchestrator: ({ name }, data) => invokeOrchestrator(name, data),
    holdFirstTurn: (name) => heldFirstTurn(faults, name),
    disturbTurn: (name, turn) => {
      const dropped = (): never => {
        throw new Error('a fault dropped the turn');
      };
      return withFault(faults, { operation: 'turn', entity: name, dropped }, turn);
    },
    invokeActivity: (call) =>
      withFault(faults, { operation: 'activity', entity: call.name, dropped: () => 'null' }, () =>
        invokeActivity(call),
      ),
  };
}

function byName(functions: readonly BoundFunction[], kind: BoundFunction['kind']): Map<string, BoundFunction> {
  const ofKind = functions.filter((bound) => bound.kind === kind);
  return new Map(ofKind.map((bound) => [bound.fn.name, bound]));
}
