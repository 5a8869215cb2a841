/** A runtime for attempts in memory: what the app's Orchestrations port is in the property tests. */
import type { AgentReply } from '../../functions/contracts/agent-reply.js';
import type { Dispatched } from '../../functions/scheduler/attempt-messages.js';
import { TransientError } from '../../functions/state/errors.js';
import type { InstanceState, Orchestrations } from '../../functions/state/ports.js';

/** One attempt's orchestration, which wakes only when the test says so. */
export interface Attempt {
  readonly instanceId: string;
  readonly orderId: string;
  phase: 'advancing' | 'waiting' | 'timedOut' | 'stopped';
  hasCrashed: boolean;
  failures: number;
  turns: number;
  dispatched: Dispatched | undefined;
  reply: AgentReply | undefined;
  readonly inbox: AgentReply[];
}

/** The runtime: knows an attempt from its start on; a start may fail in every way. */
export function createAttemptRuntime(attempts: Attempt[], isDisturbed: () => boolean): Orchestrations {
  const find = (instanceId: string): Attempt | undefined =>
    attempts.find((attempt) => attempt.instanceId === instanceId);
  return {
    start: (instanceId, { orderId }) => {
      if (isDisturbed())
        return isDisturbed() ? Promise.resolve('refused') : Promise.reject(new TransientError('no runtime'));
      if (find(instanceId) === undefined) attempts.push(freshAttempt(instanceId, orderId));
      return isDisturbed() ? Promise.reject(new TransientError('started, but no answer')) : Promise.resolve('started');
    },
    instanceState: (instanceId) => Promise.resolve(stateOf(find(instanceId))),
    terminate: (instanceId) => {
      const attempt = find(instanceId);
      if (attempt !== undefined && stateOf(attempt) === 'underWay') attempt.phase = 'stopped';
      return Promise.resolve();
    },
    purgeFinished: () => Promise.resolve(0),
    raiseEvent: (instanceId, _name, payload) => {
      const attempt = find(instanceId);
      attempt?.inbox.push(payload as AgentReply);
      return Promise.resolve(attempt === undefined ? 'unknown' : 'raised');
    },
  };
}

function freshAttempt(instanceId: string, orderId: string): Attempt {
  const nothingYet = { dispatched: undefined, reply: undefined, hasCrashed: false };
  return { instanceId, orderId, phase: 'advancing', failures: 0, turns: 0, inbox: [], ...nothingYet };
}

/** What the runtime says of an attempt. */
export function stateOf(attempt: Attempt | undefined): InstanceState {
  if (attempt === undefined) return 'unknown';
  return attempt.phase === 'timedOut' || attempt.phase === 'stopped' ? attempt.phase : 'underWay';
}
