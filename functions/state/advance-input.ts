import type { StepError, StepResult } from '../contracts/agent-reply.js';
import type { DeferralPolicy } from './deferral.js';
import type { Workflow } from './order-workflow.js';

/** What the agent answered to the running step. */
export interface StepReply {
  readonly stepId: string;
  readonly requestId: string;
  readonly outcome: 'succeeded' | 'refused' | 'failed' | 'deferred';
  readonly result?: StepResult | undefined;
  readonly error?: StepError | undefined;
  /** An earlier call or delivery of this request may have had an effect: the outcome does not prove that nothing was done. */
  readonly uncertain?: boolean | undefined;
  /** With `deferred`, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
}

/** The orchestrator of an attempt wants to go on. */
export interface AdvanceInput {
  readonly instanceId: string;
  readonly workflow: Workflow;
  readonly stepDeadlineMs: number;
  readonly deferral: DeferralPolicy;
  /** How long an undo may take, counted from its beginning. */
  readonly orderLifetimeMs: number;
  /** The reply to the step dispatched last; absent in the first advance of an attempt. */
  readonly reply?: StepReply | undefined;
}
