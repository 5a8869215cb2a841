/**
 * The first turns of new instances, which a fault can hold: a task hub with a backlog takes a start late. The instance
 * is `Pending` meanwhile, what is sent to it waits with its start, and it holds no slot.
 */
import type { Instance } from './instance.js';

/** What can hold first turns. */
export interface FirstTurnFaults {
  /** What the first turn of a new instance of this orchestrator has to wait for; undefined: nothing. */
  holdFirstTurn(orchestrator: string): Promise<void> | undefined;
}

/** The first turns that are held. */
export interface FirstTurns {
  /** Lets the instance go on; a new one takes its first turn when nothing holds it any more. */
  begin(instance: Instance): void;
  isHeld(instance: Instance): boolean;
}

/** Creates the record of what is held, with nothing in it. */
export function createFirstTurns(faults: FirstTurnFaults, wake: (instance: Instance) => void): FirstTurns {
  const held = new Set<Instance>();
  return {
    begin(instance) {
      const wait = instance.runtimeStatus === 'Pending' ? faults.holdFirstTurn(instance.name) : undefined;
      if (wait === undefined) {
        wake(instance);
        return;
      }
      held.add(instance);
      void wait.then(() => {
        held.delete(instance);
        wake(instance);
      });
    },
    isHeld: (instance) => held.has(instance),
  };
}
