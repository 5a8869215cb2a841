/**
 * The activity *advance* (step 4 of the article): records the outcome of the last step under the fence, then sends the
 * next step's request. It may be repeated: the write is recognised and the request keeps its MessageId (I2, A3).
 */
import { agentRequestQueueName, attemptOf } from '../contracts/identifiers.js';
import { msBetween } from '../contracts/timestamp.js';
import { traceProperties } from '../contracts/trace-context.js';
import { isEarlierThanAttempt } from '../state/earlier-version.js';
import type { DeferralPolicy } from '../state/deferral.js';
import { PermanentError, TransientError } from '../state/errors.js';
import type { Transition } from '../state/decision.js';
import { nextAction } from '../state/next-action.js';
import type { DispatchAction } from '../state/next-action.js';
import { findWorkflow } from '../state/order-workflow.js';
import type { Workflow } from '../state/order-workflow.js';
import { isRequestAfter } from '../state/own-requests.js';
import type { OrdersDatabase } from '../state/ports.js';
import type { StateRecord } from '../state/state-record.js';
import { advance as advanceTransition, fail } from '../state/step-transitions.js';
import { applyTransition } from '../status/apply-transition.js';
import type { TransitionDeps, TransitionResult } from '../status/apply-transition.js';
import { buildAgentRequest, stepOf } from './agent-request-builder.js';
import type { AdvanceRequest, AdvanceResult } from './attempt-messages.js';

/** Limits of an attempt's steps, in milliseconds. */
export interface AdvancePolicy extends Omit<DeferralPolicy, 'jitter'> {
  readonly stepDeadlineMs: number;
  /** How long an undo may take, counted from its beginning. */
  readonly orderLifetimeMs: number;
}

/** What advance needs. */
export interface AdvanceDeps extends TransitionDeps {
  readonly orders: OrdersDatabase;
  readonly policy: AdvancePolicy;
  /** 0 to 1; seeded in tests. */
  readonly random: () => number;
}

/**
 * Advances the attempt by one step. What no repeat can cure ends the order in Error (T42).
 *
 * @throws TransientError when the store or the broker can't answer: Durable repeats the activity
 */
export async function advanceAttempt(request: AdvanceRequest, deps: AdvanceDeps): Promise<AdvanceResult> {
  try {
    return await advanceOrThrow(request, deps);
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error;
    const input = { instanceId: request.instanceId, code: error.code, message: error.message };
    const failed = await applyAsOwner(request, fail, input, deps);
    return failed.kind === 'applied' ? ended(failed.record, failed.record.processState, deps) : { kind: 'superseded' };
  }
}

async function advanceOrThrow(request: AdvanceRequest, deps: AdvanceDeps): Promise<AdvanceResult> {
  const { orderId, instanceId, reply } = request;
  const workflow = await workflowOf(orderId, deps);
  const { backoffMs, maxBackoffMs, ...limits } = deps.policy;
  const deferral = { backoffMs, maxBackoffMs, jitter: deps.random() };
  const input = { instanceId, workflow, ...limits, deferral, reply };
  const result = await applyAsOwner(request, advanceTransition, input, deps);
  if (result.kind === 'refused') {
    deps.telemetry.event('attempt-superseded', { orderId, instanceId, reason: result.reason });
    return { kind: 'superseded' };
  }
  const action = nextAction(result.record);
  if (action.kind === 'ended') return ended(result.record, action.processState, deps);
  if (!isRequestAfter(result.record, reply?.stepId)) {
    // A late repeat of an earlier turn: a later turn has the token of this request, and sends it.
    deps.telemetry.event('attempt-superseded', { orderId, instanceId, reason: 'laterTurn' });
    return { kind: 'superseded' };
  }
  return dispatch(result.record, action, request, deps);
}

/**
 * Applies a transition of the attempt's owner.
 *
 * @throws TransientError when the record is visible only as it was before this attempt, or not at all
 */
async function applyAsOwner<Input>(
  { orderId, instanceId }: AdvanceRequest,
  transition: Transition<Input>,
  input: Input,
  deps: AdvanceDeps,
): Promise<Exclude<TransitionResult, { kind: 'missing' }>> {
  const result = await applyTransition(deps, orderId, transition, input);
  if (result.kind === 'missing') throw notVisible(orderId);
  const { kind, record } = result;
  // An outcome of a step that this version does not know was sent after a version that does (A1).
  const isEarlier = isEarlierThanAttempt(record, attemptOf(instanceId)) || isForeignOutcome(result);
  if (kind === 'refused' && isEarlier) throw notVisible(orderId);
  return result;
}

function isForeignOutcome(result: TransitionResult): boolean {
  return result.kind === 'refused' && result.reason === 'foreignOutcome';
}

function notVisible(orderId: string): TransientError {
  return new TransientError(`the newest version of the record of ${orderId} is not visible yet`);
}

async function workflowOf(orderId: string, deps: AdvanceDeps): Promise<Workflow> {
  const seen = await deps.store.get(orderId);
  if (seen === undefined) throw notVisible(orderId);
  const { workflowVersion } = seen.record;
  const workflow = findWorkflow(workflowVersion);
  if (workflow !== undefined) return workflow;
  throw new PermanentError('UnknownWorkflow', `order ${orderId}: workflow version ${workflowVersion}`);
}

function ended(record: StateRecord, processState: StateRecord['processState'], deps: AdvanceDeps): AdvanceResult {
  const { orderId, attempt, error } = record;
  deps.telemetry.event('attempt-ended', { orderId, attempt, processState, code: error?.code ?? null });
  return { kind: 'ended', processState };
}

async function dispatch(
  record: StateRecord,
  action: DispatchAction,
  request: AdvanceRequest,
  deps: AdvanceDeps,
): Promise<AdvanceResult> {
  const { orderId, attempt } = record;
  const { stepId, requestId, completeBy } = action;
  const step = stepOf(record, stepId);
  const allottedMs = Math.max(0, msBetween(deps.clock.now(), completeBy));
  const isSent =
    step.transport === 'activity' ? isInTime(action, deps) : await sendRequest(record, action, request, deps);
  if (!isSent) {
    deps.telemetry.event('step-not-dispatched', { orderId, attempt, stepId, action: action.action });
    return { kind: 'tooLate' };
  }
  deps.telemetry.event('step-dispatched', { orderId, attempt, stepId, action: action.action });
  const { agent, transport } = step;
  return { kind: 'dispatched', stepId, requestId, completeBy, agent, transport, allottedMs };
}

function isInTime({ completeBy }: DispatchAction, { clock }: AdvanceDeps): boolean {
  return clock.now() < completeBy;
}

/** Returns whether the request was sent: after the deadline of its step it is of no use. */
async function sendRequest(
  record: StateRecord,
  action: DispatchAction,
  { replyToken }: AdvanceRequest,
  deps: AdvanceDeps,
): Promise<boolean> {
  const step = stepOf(record, action.stepId);
  const body = await buildAgentRequest({ record, action, step, replyToken }, deps);
  if (!isInTime(action, deps)) return false;
  await deps.sender.send(agentRequestQueueName(step.agent), {
    messageId: action.requestId,
    correlationId: record.orderId,
    body,
    timeToLiveMs: Math.max(1, msBetween(deps.clock.now(), action.completeBy)),
    ...traceProperties(record.traceparent),
  });
  return true;
}
