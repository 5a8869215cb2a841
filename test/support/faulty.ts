/** Wrappers that break a port from outside, by a plan: the code under test knows nothing of them. */
import { TransientError } from '../../functions/state/errors.js';
import type { QueueSender, StateStore } from '../../functions/state/ports.js';

/** What happens to one call. `lostAcknowledgement`: it took effect, but the caller sees an error. */
export type Fault = 'none' | 'unavailable' | 'lostAcknowledgement' | 'conflict';

/** Decides the fault of the next call of an operation. */
export type FaultPlan = (operation: string) => Fault;

/** A plan that hits chosen calls: the fault of the n-th call (from 0) of the operation. */
export function faultAt(operation: string, faults: Readonly<Record<number, Fault>>): FaultPlan {
  let calls = 0;
  return (called) => {
    if (called !== operation) return 'none';
    const fault = faults[calls] ?? 'none';
    calls += 1;
    return fault;
  };
}

/** A state store whose writes and point reads fail by the plan. */
export function faultyStore(store: StateStore, plan: FaultPlan): StateStore {
  return {
    ...store,
    createIfAbsent: (record) => broken(plan('createIfAbsent'), () => store.createIfAbsent(record)),
    getLatest: (orderId) => broken(plan('getLatest'), () => store.getLatest(orderId)),
    replaceIfUnchanged: async (record, etag) => {
      const fault = plan('replaceIfUnchanged');
      if (fault === 'conflict') return { kind: 'conflict' };
      return broken(fault, () => store.replaceIfUnchanged(record, etag));
    },
  };
}

/** A sender whose sends fail by the plan; the operation is the queue. */
export function faultySender(sender: QueueSender, plan: FaultPlan): QueueSender {
  return { send: (queue, message) => broken(plan(queue), () => sender.send(queue, message)) };
}

async function broken<Result>(fault: Fault, call: () => Promise<Result>): Promise<Result> {
  if (fault === 'unavailable') throw new TransientError('no answer');
  const result = await call();
  if (fault === 'lostAcknowledgement') throw new TransientError('the answer is lost');
  return result;
}

/** A stream of numbers from 0 to 1 that is the same for the same seed. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
