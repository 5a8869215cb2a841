/** What stands between an agent and its remote service, for all requests of a process: a circuit breaker and a bulkhead. */
import type { AgentTransport } from '../state/order-workflow.js';
import { createBulkhead } from './bulkhead.js';
import type { AgentLimits, Bulkhead, BulkheadDeps } from './bulkhead.js';
import { createCircuitBreaker } from './circuit-breaker.js';
import type { BreakerPolicy, CircuitBreaker } from './circuit-breaker.js';

/** The guards of one remote service. */
export interface RemoteGuards {
  readonly breaker: CircuitBreaker;
  readonly bulkhead: Bulkhead;
}

/**
 * How many requests an agent works on at the same time, in one process. A test compares these numbers with host.json: the
 * requests of an agent behind a queue fill its share of `maxConcurrentCalls`; agents in the app leave activity slots to
 * *advance*, which every order needs.
 */
export const agentLimits: Readonly<Record<AgentTransport, AgentLimits>> = {
  queue: { calls: 24, callsAfterFailure: 8, waiting: 8 },
  activity: { calls: 24, callsAfterFailure: 8, waiting: 24 },
};

/** A call that takes longer than this part of a step's deadline is taken to hang. */
const hangingShare = 1 / 20;
const minHangingMs = 1_000;

/** Creates the guards of a remote service that is called by an agent of this kind. */
export function createRemoteGuards(
  transport: AgentTransport,
  policy: BreakerPolicy & { readonly stepDeadlineMs: number },
  deps: BulkheadDeps,
): RemoteGuards {
  const hangAfterMs = Math.max(minHangingMs, policy.stepDeadlineMs * hangingShare);
  return {
    breaker: createCircuitBreaker(deps.clock, policy),
    bulkhead: createBulkhead(agentLimits[transport], hangAfterMs, deps),
  };
}
