/** The requests that the checks send: by the contract, for orders of their own that no other run uses. */
import { randomUUID } from 'node:crypto';
import type { AgentRequest } from '../../functions/contracts/agent-request.js';
import { agentRequestId, idempotencyKey, undoIdempotencyKey } from '../../functions/contracts/identifiers.js';
import { toTimestamp } from '../../functions/contracts/timestamp.js';

/** What differs between requests. */
export interface RequestWish {
  /** Names the order within this run. */
  readonly order: string;
  readonly attempt: number;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly action?: 'do' | 'undo';
  /** Time until completeBy, in milliseconds; negative: it has passed. */
  readonly dueInMs?: number;
}

/** Builds requests of one step. */
export interface RequestFactory {
  readonly runId: string;
  build(wish: RequestWish): AgentRequest;
}

/** As the workflow of the example has it. */
const callAllowance = 2;

export function createRequestFactory(stepId: string, defaultDueInMs: number): RequestFactory {
  const runId = randomUUID().slice(0, 8);
  return {
    runId,
    build({ order, attempt, payload, action = 'do', dueInMs = defaultDueInMs }) {
      const orderId = `verify-${runId}-${order}`;
      const key = action === 'do' ? idempotencyKey(orderId, stepId) : undoIdempotencyKey(orderId, stepId);
      return {
        schemaVersion: 1,
        requestId: agentRequestId(orderId, attempt, stepId),
        orderId,
        attempt,
        stepId,
        action,
        completeBy: toTimestamp(new Date(Date.now() + dueInMs)),
        callAllowance,
        idempotencyKey: key,
        fencingToken: attempt,
        replyToken: randomUUID(),
        payload: action === 'do' ? payload : {}, // An undo knows only what a reply has recorded.
        traceparent: null,
      };
    },
  };
}
