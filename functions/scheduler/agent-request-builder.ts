/** Builds the request to an agent from the state record and the stored order. */
import type { AgentActivityInput } from '../contracts/agent-activity.js';
import { parseAgentRequest } from '../contracts/agent-request.js';
import type { AgentRequest } from '../contracts/agent-request.js';
import type { Order } from '../contracts/order.js';
import { PermanentError } from '../state/errors.js';
import { nextAction } from '../state/next-action.js';
import type { NextAction } from '../state/next-action.js';
import { findStep, findWorkflow } from '../state/order-workflow.js';
import type { WorkflowStep } from '../state/order-workflow.js';
import type { OrdersDatabase, StateStore, VersionedRecord } from '../state/ports.js';
import type { StateRecord } from '../state/state-record.js';

/** The request to an agent that an attempt's record asks for; also for agents that are activities of this app. */
export async function buildAgentRequest(
  dispatch: {
    readonly record: StateRecord;
    readonly action: Extract<NextAction, { kind: 'dispatch' }>;
    readonly step: WorkflowStep;
    readonly replyToken: string;
  },
  orders: OrdersDatabase,
): Promise<AgentRequest> {
  const { record, action, step, replyToken } = dispatch;
  const order = await orderOf(record.orderId, orders);
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
    payload: step.payload(order),
    traceparent: record.traceparent,
  });
  if (!parsed.ok) throw new PermanentError('InvalidRequest', parsed.rejection.description);
  return parsed.value;
}

async function orderOf(orderId: string, orders: OrdersDatabase): Promise<Order> {
  const order = await orders.get(orderId);
  if (order === undefined) throw new PermanentError('OrderMissing', `the orders database has no ${orderId}`);
  return order;
}

/** The definition of a step in the record's workflow. */
export function stepOf(record: StateRecord, stepId: string): WorkflowStep {
  const workflow = findWorkflow(record.workflowVersion);
  const step = workflow === undefined ? undefined : findStep(workflow, stepId);
  if (step === undefined)
    throw new PermanentError('UnknownStep', `workflow ${record.workflowVersion} has no step ${stepId}`);
  return step;
}

/**
 * The request for an agent that is an activity of this app: it comes with ids only, so that no order detail enters
 * Durable history (T78).
 *
 * @returns `undefined` when the record no longer asks for it: the attempt was superseded
 */
export async function requestForActivity(
  input: AgentActivityInput,
  { store, orders }: { readonly store: StateStore; readonly orders: OrdersDatabase },
): Promise<AgentRequest | undefined> {
  const build = (seen: VersionedRecord | undefined): Promise<AgentRequest> | undefined => {
    if (seen === undefined) return undefined;
    const { record } = seen;
    const action = nextAction(record);
    if (action.kind !== 'dispatch' || action.requestId !== input.requestId) return undefined;
    return buildAgentRequest(
      { record, action, step: stepOf(record, action.stepId), replyToken: input.replyToken },
      orders,
    );
  };
  // The remembered version may be older than the request; the stored one decides.
  return (await build(await store.get(input.orderId))) ?? build(await store.getLatest(input.orderId));
}
