/**
 * Step 5 of the article: what every agent does around the call to its remote service (R21–R27).
 *
 * Invariants
 * G1 No call is started after completeBy, and none beyond the allowance of the request (R25, R50, C47).
 * G2 Every call carries the request's idempotency key and fencing token (R23, R101).
 * G3 Only a definite outcome is answered. An unknown one is silence, which the scheduler's timer turns into a timeout (R27, T23).
 * G4 An agent never recovers the workflow itself (R26).
 * G5 *Deferred* is answered only when this request has made no call: nothing was done (T67).
 */
import { setTimeout as delay } from 'node:timers/promises';
import { maxReplyMessageLength, maxResultTextLength } from '../contracts/agent-reply.js';
import type { AgentReply } from '../contracts/agent-reply.js';
import type { AgentRequest } from '../contracts/agent-request.js';
import { msBetween } from '../contracts/timestamp.js';
import type { Clock, Telemetry } from '../state/ports.js';
import type { CircuitBreaker } from './circuit-breaker.js';
import type { RemoteCall, RemoteOutcome, RemoteService } from './remote-service.js';

/** One agent: its name and how a request becomes a call to its remote service. */
export interface Agent {
  readonly name: string;
  readonly toRemoteCall: (request: AgentRequest) => Pick<RemoteCall, 'operation' | 'body'>;
}

/** What an agent needs. */
export interface AgentDeps {
  readonly remote: RemoteService;
  readonly breaker: CircuitBreaker;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** Wait before the next call of the same request, in milliseconds; up to twice as long with jitter. */
  readonly retryDelayMs: number;
  /** 0 to 1; seeded in tests. */
  readonly random: () => number;
}

/** A request, and whether *deferred* is a possible answer: no earlier delivery of it may have made a call (G5). */
export interface Work {
  readonly request: AgentRequest;
  readonly mayDefer: boolean;
}

/** How a request ended at the agent. */
type RequestOutcome = RemoteOutcome | { readonly kind: 'deferred'; readonly retryAfterMs: number };

/** Does what the request asks, within its deadline and allowance. `undefined`: nothing definite to say. */
export async function serveRequest(agent: Agent, work: Work, deps: AgentDeps): Promise<AgentReply | undefined> {
  const { request } = work;
  const outcome = await callWithinAllowance(agent, work, deps);
  const { orderId, attempt, stepId } = request;
  const isDefinite = outcome.kind !== 'unknown' && outcome.kind !== 'fenced';
  const reply = isDefinite ? toReply(request, outcome) : undefined; // G3
  deps.telemetry.event(isDefinite ? 'agent-replied' : 'agent-silent', {
    orderId,
    attempt,
    stepId,
    outcome: reply?.outcome ?? outcome.kind,
    ...(outcome.kind === 'unknown' && { cause: outcome.cause }),
  });
  return reply;
}

async function callWithinAllowance(
  agent: Agent,
  { request, mayDefer }: Work,
  deps: AgentDeps,
): Promise<RequestOutcome> {
  const { idempotencyKey, fencingToken, callAllowance } = request;
  const call = { ...agent.toRemoteCall(request), idempotencyKey, fencingToken }; // G2
  let unknown: RemoteOutcome = { kind: 'unknown', cause: 'NoTimeLeft' };
  for (let calls = 0; calls < callAllowance; calls += 1) {
    if (calls > 0) await delay(deps.retryDelayMs * (1 + deps.random()));
    const remainingMs = msBetween(deps.clock.now(), request.completeBy);
    if (remainingMs <= 0) break; // G1
    const circuit = deps.breaker.tryPass();
    if (circuit.kind === 'open')
      return calls === 0 && mayDefer ? { ...circuit, kind: 'deferred' } : { kind: 'unknown', cause: 'CircuitOpen' }; // G5
    const outcome = await deps.remote.call(call, AbortSignal.timeout(remainingMs));
    deps.breaker.report(outcome.kind !== 'unknown');
    if (outcome.kind !== 'unknown') return outcome;
    unknown = outcome;
  }
  return unknown;
}

/** The remote service's words are bounded before they travel (T27). */
function cut(message: string): string {
  return message.slice(0, maxReplyMessageLength);
}

/**
 * A reference that is too long to travel is never lost in silence: the step has an effect, so an operator must look (T27).
 * Nobody reads the reference of an undo.
 */
function success({ action }: AgentRequest, reference: string): Pick<AgentReply, 'outcome' | 'result' | 'error'> {
  if (reference.length <= maxResultTextLength) return { outcome: 'succeeded', result: { reference } };
  if (action === 'undo') return { outcome: 'succeeded' };
  const message = `done, but its reference has ${reference.length} characters; ${maxResultTextLength} may travel`;
  return { outcome: 'failed', error: { code: 'ResultTooLarge', message } };
}

type Definite = Exclude<RequestOutcome, { kind: 'unknown' | 'fenced' }>;

function toReply(request: AgentRequest, outcome: Definite): AgentReply {
  const { requestId, replyToken, orderId, attempt, stepId } = request;
  const ids = { schemaVersion: 1, requestId, replyToken, orderId, attempt, stepId } as const;
  switch (outcome.kind) {
    case 'succeeded':
      return { ...ids, ...success(request, outcome.reference) };
    case 'deferred':
      return { ...ids, outcome: 'deferred', retryAfterMs: outcome.retryAfterMs };
    case 'refused':
    case 'failed':
      return { ...ids, outcome: outcome.kind, error: { code: outcome.code, message: cut(outcome.message) } };
  }
}
