import { describe, expect, it } from 'vitest';
import topology from '../../infra/topology.json' with { type: 'json' };
import { orderSchema } from '../../functions/contracts/order.js';
import { stepIdSchema } from '../../functions/contracts/identifiers.js';
import { dispatchCost, findStep, findWorkflow, retryBudget } from '../../functions/state/order-workflow.js';
import type { Workflow } from '../../functions/state/order-workflow.js';
import { anOrder, mustFind, workflowV1 } from '../support/builders.js';

const versions: readonly Workflow[] = [1, 2].map((version) => mustFind(findWorkflow(version)));
const steps = versions.flatMap((workflow) => workflow.steps);

describe('a workflow', () => {
  it('is found by the version that a record carries (R53, T80)', () => {
    expect(versions.map(({ version }) => version)).toEqual([1, 2]);
    expect(findWorkflow(0)).toBeUndefined();
    expect(findWorkflow(99)).toBeUndefined();
  });

  it('of version 1 stays as it was published: running orders carry its number (R53)', () => {
    expect(workflowV1.steps.map(({ id, agent, transport, undoAction }) => [id, agent, transport, undoAction])).toEqual([
      ['payment', 'payment', 'queue', 'refund'],
      ['inventory', 'inventory', 'activity', 'release'],
      ['shipping', 'shipping', 'queue', 'cancel'],
    ]);
  });

  it('has steps with ids of their own, in our grammar', () => {
    for (const workflow of versions) {
      const ids = workflow.steps.map(({ id }) => stepIdSchema.parse(id));
      expect(new Set(ids).size).toBe(ids.length);
    }
  });

  it('finds its steps by id', () => {
    expect(findStep(workflowV1, 'payment')?.undoAction).toBe('refund');
    expect(findStep(workflowV1, 'gone')).toBeUndefined();
  });

  it('tells an agent only what it needs of the order (T78)', () => {
    const order = anOrder();
    const payloadOf = (id: string): object => mustFind(findStep(workflowV1, id)).payload(order);
    expect(payloadOf('payment')).toEqual({ amountMinor: 3998, currency: 'EUR', paymentToken: 'tok_ok' });
    expect(payloadOf('inventory')).toEqual({ lines: [{ sku: 'KETTLE', quantity: 2 }] });
    expect(JSON.stringify(payloadOf('shipping'))).not.toContain(order.paymentToken);
    expect(orderSchema.shape).toHaveProperty('paymentToken');
  });
});

describe('the retry budget', () => {
  it('multiplies attempts, deliveries and calls of all steps (R50, T70)', () => {
    expect(workflowV1.steps.map(dispatchCost)).toEqual([4, 2, 4]);
    expect(retryBudget(workflowV1, 3)).toBe(30);
    expect(retryBudget(workflowV1, 1)).toBe(10);
  });

  it('counts the deliveries that the agents’ queues really make', () => {
    for (const step of steps) {
      const queue = topology.serviceBus.queues.find(({ name }) => name === `${step.agent}-requests`);
      const deliveries =
        step.transport === 'activity'
          ? 1
          : (mustFind(queue).maxDeliveryCount ?? topology.serviceBus.queueDefaults.maxDeliveryCount);
      expect(step.maxDeliveryCount, step.id).toBe(deliveries);
    }
  });

  it('belongs to steps whose queues exist: requests and replies (R93)', () => {
    const names = topology.serviceBus.queues.map(({ name }) => name);
    for (const { agent } of steps.filter(({ transport }) => transport === 'queue')) {
      expect(names).toContain(`${agent}-requests`);
      expect(names).toContain(`${agent}-replies`);
    }
  });
});
