/**
 * Step 5 of the article: what every agent does around the call to its remote service (R21–R27).
 *
 * Invariants
 * G1 No call is started after completeBy, and none beyond the allowance of the request (R25, R50, C47).
 * G2 Every call carries the request's idempotency key and fencing token (R23, R101).
 * G3 Only a definite outcome is answered. An unknown one is silence, which the scheduler's timer turns into a timeout (R27, T23).
 * G4 An agent never recovers the workflow itself (R26).
 * G5 *Deferred* is answered only if this delivery of the request has made no call that may have had an effect (T67).
 * G6 A refusal, a failure or a deferral proves nothing about an earlier call or delivery whose end is unknown: such an answer
 *    says that it is uncertain (T71).
 */
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
  /** Waits so many milliseconds. */
  readonly wait: (ms: number) => Promise<unknown>;
}

/** One delivery of a request. */
export interface Work {
  readonly request: AgentRequest;
  /** An earlier delivery of this request may have made calls (G6). */
  readonly isRepeat: boolean;
}

/** How a delivery ended. */
interface WorkOutcome {
  readonly outcome: Exclude<RemoteOutcome, { kind: 'busy' }> | Deferral;
  /** An earlier call or delivery may have had an effect (G6). */
  readonly isUncertain: boolean;
}

/** Not called, or in vain: come again later. */
interface Deferral {
  readonly kind: 'deferred';
  readonly retryAfterMs: number;
}

/** The longest wait that a remote service may ask for while its request is kept; for a longer one the request is deferred. */
const maxWaitMs = 5_000;

/** Does what the request asks, within its deadline and allowance. `undefined`: nothing definite to say. */
export async function serveRequest(agent: Agent, work: Work, deps: AgentDeps): Promise<AgentReply | undefined> {
  const { request } = work;
  const { outcome, isUncertain } = await callWithinAllowance(agent, work, deps);
  const { orderId, attempt, stepId } = request;
  const isDefinite = outcome.kind !== 'unknown' && outcome.kind !== 'fenced';
  const reply = isDefinite ? toReply(request, outcome, isUncertain) : undefined; // G3
  deps.telemetry.event(isDefinite ? 'agent-replied' : 'agent-silent', {
    orderId,
    attempt,
    stepId,
    outcome: reply?.outcome ?? outcome.kind,
    ...(outcome.kind === 'unknown' && { cause: outcome.cause }),
  });
  return reply;
}

async function callWithinAllowance(agent: Agent, { request, isRepeat }: Work, deps: AgentDeps): Promise<WorkOutcome> {
  const { idempotencyKey, fencingToken, callAllowance } = request;
  const call = { ...agent.toRemoteCall(request), idempotencyKey, fencingToken }; // G2
  let last: RemoteOutcome | Deferral = { kind: 'unknown', cause: 'NoTimeLeft' };
  let hasUnknownCall = false;
  for (let calls = 0; calls < callAllowance; calls += 1) {
    if (calls > 0 && !(await waitForNextCall(last, request, deps))) break;
    last = await callOnce(call, request, deps);
    if (last.kind !== 'unknown' && last.kind !== 'busy') break;
    hasUnknownCall ||= last.kind === 'unknown';
  }
  return { outcome: concluded(last, hasUnknownCall, deps), isUncertain: isRepeat || hasUnknownCall };
}

async function callOnce(
  call: RemoteCall,
  { completeBy }: AgentRequest,
  deps: AgentDeps,
): Promise<RemoteOutcome | Deferral> {
  const remainingMs = msBetween(deps.clock.now(), completeBy);
  if (remainingMs <= 0) return { kind: 'unknown', cause: 'NoTimeLeft' }; // G1
  const circuit = deps.breaker.tryPass();
  if (circuit.kind === 'open') return { ...circuit, kind: 'deferred' };
  const outcome = await deps.remote.call(call, AbortSignal.timeout(remainingMs));
  deps.breaker.report(outcome.kind !== 'unknown');
  return outcome;
}

/** Waits before the next call, as long as the remote service asks for. False if that is too long or past the deadline. */
async function waitForNextCall(
  last: RemoteOutcome | Deferral,
  { completeBy }: AgentRequest,
  deps: AgentDeps,
): Promise<boolean> {
  const askedMs = 'retryAfterMs' in last ? (last.retryAfterMs ?? 0) : 0;
  const waitMs = Math.max(deps.retryDelayMs * (1 + deps.random()), askedMs);
  if (askedMs > maxWaitMs || waitMs >= msBetween(deps.clock.now(), completeBy)) return false;
  await deps.wait(waitMs);
  return true;
}

/** Nothing was done by the last call: another attempt later, unless an earlier call may have had an effect (G5). */
function concluded(last: RemoteOutcome | Deferral, hasUnknownCall: boolean, deps: AgentDeps): WorkOutcome['outcome'] {
  if (last.kind !== 'busy' && last.kind !== 'deferred') return last;
  if (hasUnknownCall) return { kind: 'unknown', cause: 'Busy' };
  return { kind: 'deferred', retryAfterMs: last.retryAfterMs ?? deps.retryDelayMs };
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

type Definite = Exclude<WorkOutcome['outcome'], { kind: 'unknown' | 'fenced' }>;

function toReply(request: AgentRequest, outcome: Definite, isUncertain: boolean): AgentReply {
  const { requestId, replyToken, orderId, attempt, stepId } = request;
  const ids = { schemaVersion: 1, requestId, replyToken, orderId, attempt, stepId } as const;
  const doubt = isUncertain ? { uncertain: true } : {}; // G6
  switch (outcome.kind) {
    case 'succeeded':
      return { ...ids, ...success(request, outcome.reference) };
    case 'deferred':
      return { ...ids, ...doubt, outcome: 'deferred', retryAfterMs: outcome.retryAfterMs };
    case 'refused':
    case 'failed': {
      const { code, message } = outcome;
      return { ...ids, ...doubt, outcome: outcome.kind, error: { code, message: cut(message) } };
    }
  }
}
