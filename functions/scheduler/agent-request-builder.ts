/** Builds the request to an agent from the state record and the stored order. */
import type { AgentActivityInput } from '../contracts/agent-activity.js';
import { parseAgentRequest } from '../contracts/agent-request.js';
import type { AgentRequest } from '../contracts/agent-request.js';
import type { Order } from '../contracts/order.js';
import { addMs, msBetween } from '../contracts/timestamp.js';
import type { Timestamp } from '../contracts/timestamp.js';
import { isEarlierThanRequest } from '../state/earlier-version.js';
import { PermanentError, TransientError } from '../state/errors.js';
import { nextAction } from '../state/next-action.js';
import type { DispatchAction } from '../state/next-action.js';
import { findStep, findWorkflow } from '../state/order-workflow.js';
import type { WorkflowStep } from '../state/order-workflow.js';
import type { Clock, OrdersDatabase, StateStore } from '../state/ports.js';
import { retryTransient, waitsUntil } from '../state/retry.js';
import type { Wait } from '../state/retry.js';
import type { StateRecord } from '../state/state-record.js';

/** What reading an order needs. */
interface OrderReading {
  readonly orders: OrdersDatabase;
  readonly clock: Clock;
}

/** The request to an agent that an attempt's record asks for; also for agents that are activities of this app. */
export async function buildAgentRequest(
  dispatch: {
    readonly record: StateRecord;
    readonly action: DispatchAction;
    readonly step: WorkflowStep;
    readonly replyToken: string;
  },
  deps: OrderReading,
): Promise<AgentRequest> {
  const { record, action, step, replyToken } = dispatch;
  const parsed = parseAgentRequest({
    schemaVersion: 1,
    requestId: action.requestId,
    orderId: record.orderId,
    attempt: record.attempt,
    stepId: action.stepId,
    action: action.action,
    completeBy: action.completeBy,
    callAllowance: step.callAllowance,
    idempotencyKey: action.idempotencyKey,
    fencingToken: record.attempt,
    replyToken,
    failures: action.failures,
    payload: action.action === 'undo' ? recordedResult(record, step) : step.payload(await orderOf(record, deps)),
    traceparent: record.traceparent,
  });
  if (!parsed.ok) throw new PermanentError('InvalidRequest', parsed.rejection.description);
  return parsed.value;
}

/** An undo gets what the do has recorded and nothing else of the order; nothing when the outcome of the do is unknown. */
function recordedResult(record: StateRecord, { id }: WorkflowStep): AgentRequest['payload'] {
  return record.steps.find((step) => step.id === id)?.result ?? {};
}

/** The order is stored before its record (submit-order.ts, S1): at first, an absent one is only not visible yet. */
async function orderOf(record: StateRecord, { orders, clock }: OrderReading): Promise<Order> {
  const { orderId } = record;
  const order = await orders.get(orderId);
  if (order !== undefined) return order;
  if (isMissing(record, clock.now())) throw new PermanentError('OrderMissing', `the orders database has no ${orderId}`);
  throw new TransientError(`order ${orderId} is not visible yet`);
}

/** After this time a write is visible everywhere: the longest staleness that the account's settings allow. */
const maxStalenessMs = 300_000;

/** So long after the attempt's last write an order is asked for before it counts as missing. */
const askForMs = 5_000;

function isMissing({ createdAt, updatedAt }: StateRecord, now: Timestamp): boolean {
  return msBetween(createdAt, now) > maxStalenessMs && msBetween(updatedAt, now) > askForMs;
}

/** The definition of a step in the record's workflow. */
export function stepOf(record: StateRecord, stepId: string): WorkflowStep {
  const workflow = findWorkflow(record.workflowVersion);
  const step = workflow === undefined ? undefined : findStep(workflow, stepId);
  if (step === undefined)
    throw new PermanentError('UnknownStep', `workflow ${record.workflowVersion} has no step ${stepId}`);
  return step;
}

/** What building a request for an activity needs. */
export interface ActivityRequestDeps extends OrderReading {
  readonly store: StateStore;
  readonly wait: Wait;
  readonly policy: { readonly stepDeadlineMs: number };
}

/**
 * The request for an agent that is an activity of this app: it comes with ids only, so that no order detail enters
 * Durable history (T78). The record is read again until it shows the request, for as long as a step may take.
 *
 * @returns `undefined` when the record no longer asks for it: the attempt was superseded
 * @throws TransientError when the store could not tell in time
 */
export function requestForActivity(
  input: AgentActivityInput,
  deps: ActivityRequestDeps,
): Promise<AgentRequest | undefined> {
  const { clock, wait, policy } = deps;
  const waitsMs = waitsUntil(addMs(clock.now(), policy.stepDeadlineMs), clock);
  return retryTransient(() => buildFromRecord(input, deps), waitsMs, wait);
}

async function buildFromRecord(
  { orderId, requestId, replyToken, completeBy }: AgentActivityInput,
  deps: ActivityRequestDeps,
): Promise<AgentRequest | undefined> {
  const remembered = deps.store.remembered(orderId)?.record;
  const isAsked = remembered !== undefined && askedBy(remembered, requestId) !== undefined;
  // A remembered version may be older than the request; the stored one decides.
  const record = isAsked ? remembered : (await deps.store.getLatest(orderId))?.record;
  if (record === undefined || isEarlierThanRequest(record, requestId)) {
    throw new TransientError(`the record of ${orderId} does not show request ${requestId} yet`);
  }
  const action = askedBy(record, requestId);
  if (action === undefined) return undefined;
  const inTime = completeBy === undefined ? action : { ...action, completeBy };
  return buildAgentRequest({ record, action: inTime, step: stepOf(record, action.stepId), replyToken }, deps);
}

/** What the record asks of an agent, if it is this request. */
function askedBy(record: StateRecord, requestId: string): DispatchAction | undefined {
  const action = nextAction(record);
  return action.kind === 'dispatch' && action.requestId === requestId ? action : undefined;
}
