/**
 * The workflow as data (R4): which steps an order takes, who does each, what undoes it and what the agent needs to know.
 * The orchestrator never changes when this does. An adopter replaces this file and the agents, and little else.
 *
 * A published version is never edited: running orders carry its number. Add the next version instead (R53).
 */
import { orderTotalMinor } from '../contracts/order.js';
import type { Order } from '../contracts/order.js';

/** How an agent is reached: over its request and reply queue, or as an activity of the same app (R93). */
export type AgentTransport = 'queue' | 'activity';

/** One step of a workflow. */
export interface WorkflowStep {
  readonly id: string;
  readonly agent: string;
  readonly transport: AgentTransport;
  /** The action that undoes the step at the remote service. */
  readonly undoAction: string;
  /** How long the step may take, as a share of the setting STEP_DEADLINE_MS. */
  readonly deadlineShare: number;
  /** Calls to the remote service that one request may make. */
  readonly callAllowance: number;
  /** How often the agent's request queue delivers one request; infra/topology.json says the same, a test compares. */
  readonly maxDeliveryCount: number;
  /** What the agent needs of the order; it travels in the request, never in Durable history (T78). */
  readonly payload: (order: Order) => Readonly<Record<string, unknown>>;
}

/** What happens to an order that cannot be finished: an operator decides, or what was done is undone. */
export type AfterLastFailure = 'operator' | 'undo';

/** One version of the workflow. */
export interface Workflow {
  readonly version: number;
  readonly steps: readonly WorkflowStep[];
  readonly afterLastFailure: AfterLastFailure;
}

const payment: WorkflowStep = {
  id: 'payment',
  agent: 'payment',
  transport: 'queue',
  undoAction: 'refund',
  deadlineShare: 1,
  callAllowance: 2,
  maxDeliveryCount: 2,
  payload: (order) => ({
    amountMinor: orderTotalMinor(order),
    currency: order.currency,
    paymentToken: order.paymentToken,
  }),
};

const inventory: WorkflowStep = {
  id: 'inventory',
  agent: 'inventory',
  transport: 'activity',
  undoAction: 'release',
  deadlineShare: 1,
  callAllowance: 2,
  maxDeliveryCount: 1,
  payload: (order) => ({ lines: order.lines.map(({ sku, quantity }) => ({ sku, quantity })) }),
};

const shipping: WorkflowStep = {
  id: 'shipping',
  agent: 'shipping',
  transport: 'queue',
  undoAction: 'cancel',
  deadlineShare: 1,
  callAllowance: 2,
  maxDeliveryCount: 2,
  payload: (order) => ({ shippingAddress: order.shippingAddress, lines: order.lines.length }),
};

const invoice: WorkflowStep = {
  id: 'invoice',
  agent: 'invoice',
  transport: 'activity',
  undoAction: 'credit',
  deadlineShare: 1,
  callAllowance: 2,
  maxDeliveryCount: 1,
  payload: (order) => ({ customerId: order.customerId, amountMinor: orderTotalMinor(order), currency: order.currency }),
};

/** Every version that this build knows. */
export const workflows: readonly Workflow[] = [
  { version: 1, steps: [payment, inventory, shipping], afterLastFailure: 'operator' },
  { version: 2, steps: [payment, inventory, shipping, invoice], afterLastFailure: 'operator' },
  { version: 3, steps: [payment, inventory, shipping, invoice], afterLastFailure: 'undo' },
];

/** The workflow of a version, or `undefined` when this build does not know it. */
export function findWorkflow(version: number): Workflow | undefined {
  return workflows.find((workflow) => workflow.version === version);
}

/** The step of a workflow by its id, or `undefined`. */
export function findStep(workflow: Workflow, stepId: string): WorkflowStep | undefined {
  return workflow.steps.find((step) => step.id === stepId);
}

/** True when some workflow of this build has the step. */
export function isKnownStep(stepId: string): boolean {
  return workflows.some((workflow) => findStep(workflow, stepId) !== undefined);
}

/** Calls to the remote service that one dispatch of this step can cause: the allowance on every delivery (R50, T70). */
export function dispatchCost(step: WorkflowStep): number {
  return step.callAllowance * step.maxDeliveryCount;
}

/** The calls that one step may cause over all attempts of an order: every retrying layer multiplied (T70). */
export function callsPerStep(step: WorkflowStep, maxAttempts: number): number {
  return maxAttempts * dispatchCost(step);
}

/** All calls that an order may cause at its remote services while moving forward (R50). */
export function retryBudget(workflow: Workflow, maxAttempts: number): number {
  return maxAttempts * workflow.steps.reduce((sum, step) => sum + dispatchCost(step), 0);
}
