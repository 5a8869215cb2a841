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
 * G7 No call takes the time of the next one: each may last its share of what is left until completeBy.
 */
import { maxReplyMessageLength, maxResultTextLength } from '../contracts/agent-reply.js';
import type { AgentReply } from '../contracts/agent-reply.js';
import type { AgentRequest } from '../contracts/agent-request.js';
import { msBetween } from '../contracts/timestamp.js';
import type { Timestamp } from '../contracts/timestamp.js';
import type { Clock, Telemetry } from '../state/ports.js';
import type { Passage } from './circuit-breaker.js';
import type { RemoteGuards } from './remote-guards.js';
import type { RemoteCall, RemoteOutcome, RemoteService } from './remote-service.js';

/** One agent: its name and how a request becomes a call to its remote service. */
export interface Agent {
  readonly name: string;
  readonly toRemoteCall: (request: AgentRequest) => Pick<RemoteCall, 'operation' | 'body'>;
}

/** What an agent needs. */
export interface AgentDeps extends RemoteGuards {
  readonly remote: RemoteService;
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

/** With less time than this until completeBy no call is worth its beginning. */
const minCallMs = 200;

/** The shortest limit of a call, as long as there is so much time left. */
const minShareMs = 1_000;

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
  const { idempotencyKey, fencingToken, callAllowance, completeBy } = request;
  const call = { ...agent.toRemoteCall(request), idempotencyKey, fencingToken }; // G2
  let last: RemoteOutcome | Deferral = { kind: 'unknown', cause: 'NoTimeLeft' };
  let hasUnknownCall = false;
  for (let callsLeft = callAllowance; callsLeft > 0; callsLeft -= 1) {
    if (callsLeft < callAllowance && !(await waitForNextCall(last, request, deps))) break;
    const afterFailure = hasUnknownCall || (request.failures ?? 0) > 0;
    last = await callOnce(call, { completeBy, callsLeft, afterFailure }, deps);
    if (last.kind !== 'unknown' && last.kind !== 'busy') break;
    hasUnknownCall ||= last.kind === 'unknown';
  }
  return { outcome: concluded(last, hasUnknownCall, deps), isUncertain: isRepeat || hasUnknownCall };
}

interface CallConditions {
  readonly completeBy: Timestamp;
  /** Calls that the request may still make, this one included. */
  readonly callsLeft: number;
  /** An earlier call for the step had no definite answer. */
  readonly afterFailure: boolean;
}

async function callOnce(
  call: RemoteCall,
  { completeBy, callsLeft, afterFailure }: CallConditions,
  deps: AgentDeps,
): Promise<RemoteOutcome | Deferral> {
  const { remote, breaker, bulkhead, clock } = deps;
  const place = await bulkhead.enter(afterFailure);
  if (place === undefined) return { kind: 'deferred', retryAfterMs: bulkhead.hangAfterMs };
  try {
    const remainingMs = msBetween(clock.now(), completeBy);
    if (remainingMs <= 0) return { kind: 'unknown', cause: 'NoTimeLeft' }; // G1
    if (remainingMs < minCallMs) return { kind: 'deferred', retryAfterMs: 0 };
    const circuit = breaker.tryPass(afterFailure);
    if (circuit.kind === 'open') return { ...circuit, kind: 'deferred' };
    return await passed(circuit, remote.call(call, AbortSignal.timeout(limitMs(remainingMs, callsLeft))));
  } finally {
    place.leave();
  }
}

async function passed(
  circuit: Extract<Passage, { kind: 'pass' }>,
  call: Promise<RemoteOutcome>,
): Promise<RemoteOutcome> {
  let isDefinite = false;
  try {
    const outcome = await call;
    isDefinite = outcome.kind !== 'unknown';
    return outcome;
  } finally {
    circuit.report(isDefinite);
  }
}

/** G7: the call's share of the time that is left, but not so little that a good service could not answer. */
function limitMs(remainingMs: number, callsLeft: number): number {
  return Math.min(remainingMs, Math.max(Math.floor(remainingMs / callsLeft), minShareMs));
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
function success(
  { action }: AgentRequest,
  reference: string,
): Pick<AgentReply, 'outcome' | 'result' | 'error' | 'uncertain'> {
  if (reference.length <= maxResultTextLength) return { outcome: 'succeeded', result: { reference } };
  if (action === 'undo') return { outcome: 'succeeded' };
  const message = `done, but its reference has ${reference.length} characters; ${maxResultTextLength} may travel`;
  return { outcome: 'failed', error: { code: 'ResultTooLarge', message }, uncertain: true };
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
