import { createHash } from 'node:crypto';
import { ServiceBusError } from '@azure/service-bus';
import type { ServiceBusMessage } from '@azure/service-bus';
import { describe, expect, it } from 'vitest';
import { InvalidOrderError, SubmitFailedError } from '../../client/errors.js';
import { createStatusMemory } from '../../client/status-memory.js';
import { submitOrder } from '../../client/submit-order.js';
import type { OrderDraft, SubmitTarget } from '../../client/submit-order.js';
import { exampleOrder } from '../../cli/orders/example-order.js';
import { canonicalOrder, parseOrder } from '../../functions/contracts/order.js';

const draft = exampleOrder('order-1');

/** A target whose sender fails with the given errors, one a call, then takes messages. */
function target(...errors: Error[]): SubmitTarget & { readonly sent: ServiceBusMessage[]; calls: number } {
  const sent: ServiceBusMessage[] = [];
  const self = {
    application: 'web-shop',
    memory: createStatusMemory(10),
    timeoutMs: 5_000,
    signal: new AbortController().signal,
    sent,
    calls: 0,
    sender: {
      sendMessages(message: unknown) {
        const error = errors[self.calls];
        self.calls += 1;
        if (error !== undefined) return Promise.reject(error);
        sent.push(message as ServiceBusMessage);
        return Promise.resolve();
      },
    },
  };
  return self;
}

describe('submitting an order', () => {
  it('sends the validated order with the application and a derived MessageId', async () => {
    const to = target();
    const submitted = await submitOrder(draft, to);
    const parsed = parseOrder(to.sent[0]?.body);
    expect(parsed).toMatchObject({
      ok: true,
      value: { application: 'web-shop', priority: 'normal', schemaVersion: 1 },
    });
    const hash = parsed.ok ? createHash('sha256').update(canonicalOrder(parsed.value)).digest('hex') : '';
    expect(submitted).toEqual({ orderId: 'order-1', messageId: `order-1.${hash.slice(0, 12)}` });
    expect(to.sent[0]).toMatchObject({ messageId: submitted.messageId, correlationId: 'order-1' });
  });

  it('gives the same order the same MessageId, and a different order under the same id another', async () => {
    const reordered = Object.fromEntries(Object.entries(draft).reverse()) as unknown as OrderDraft;
    const one = await submitOrder(draft, target());
    const same = await submitOrder({ ...reordered, priority: 'normal' }, target());
    const other = await submitOrder({ ...draft, paymentToken: 'tok_other' }, target());
    expect(same.messageId).toBe(one.messageId);
    expect(other.messageId).not.toBe(one.messageId);
  });

  it('gives a new try after a rejection a MessageId of its own, the same for each repeat of the try', async () => {
    const rejected = { schemaVersion: 1, orderId: 'order-1', seq: 0, status: 'OrderRejected' } as const;
    const after = { ...rejected, at: '2030-01-01T00:00:00.000Z' };
    const first = await submitOrder(draft, target());
    const again = await submitOrder(draft, { ...target(), after });
    const repeated = await submitOrder(draft, { ...target(), after });
    const later = await submitOrder(draft, { ...target(), after: { ...after, at: '2030-01-01T00:01:00.000Z' } });
    expect(new Set([first.messageId, again.messageId, later.messageId]).size).toBe(3);
    expect(repeated.messageId).toBe(again.messageId);
  });

  it('keeps the MessageId of the new try when that try fails and the order is submitted once more', async () => {
    const refused = new ServiceBusError('no such queue', 'MessagingEntityNotFound');
    const to = target(refused);
    const rejected = { schemaVersion: 1, orderId: 'order-1', seq: 0, status: 'OrderRejected' } as const;
    const after = { ...rejected, at: '2030-01-01T00:00:00.000Z' };
    to.memory.remember(after);
    await expect(submitOrder(draft, to)).rejects.toThrow(SubmitFailedError);
    const first = await submitOrder(draft, target());
    const again = await submitOrder(draft, to);
    const repeated = await submitOrder(draft, to);
    expect(again.messageId).toBe(`${first.messageId}.${Date.parse(after.at)}`);
    expect(repeated.messageId).toBe(again.messageId);
  });

  it('refuses a rejection that is about another order', async () => {
    const after = { schemaVersion: 1, orderId: 'order-2', seq: 0, status: 'OrderRejected' } as const;
    const to = { ...target(), after: { ...after, at: '2030-01-01T00:00:00.000Z' } };
    await expect(submitOrder(draft, to)).rejects.toThrow('`after` is a status of order order-2, not of order order-1.');
  });

  it.each([null, undefined, 'order', 7, []])('refuses %j as an order', async (nothing) => {
    const to = target();
    await expect(submitOrder(nothing as unknown as OrderDraft, to)).rejects.toThrow(InvalidOrderError);
    expect(to.calls).toBe(0);
  });

  it('refuses an invalid order before it is sent, naming the fields but no values', async () => {
    const to = target();
    const invalid = { ...draft, paymentToken: '', currency: 'euro' };
    const refusal: unknown = await submitOrder(invalid, to).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(InvalidOrderError);
    expect(refusal).toMatchObject({ reason: 'InvalidOrder' });
    expect(String(refusal)).toMatch(/currency: .*paymentToken: /);
    expect(String(refusal)).not.toContain('euro;');
    expect(to.calls).toBe(0);
  });

  it('refuses the order of another application', async () => {
    await expect(submitOrder({ ...draft, application: 'mobile-app' }, target())).rejects.toThrow(/web-shop/);
  });

  it('tries again while the broker refuses connections', async () => {
    const refused = new ServiceBusError('connect ECONNREFUSED 127.0.0.1:5672', 'GeneralError');
    const to = target(refused, new Error('Failed to connect'));
    await submitOrder(draft, to);
    expect(to.calls).toBe(3);
    expect(to.sent).toHaveLength(1);
  });

  it('does not try again what another try does not cure', async () => {
    const definite = new ServiceBusError('no such queue', 'MessagingEntityNotFound');
    for (const error of [definite, new AggregateError([definite])]) {
      const to = target(error);
      await expect(submitOrder(draft, to)).rejects.toThrow(SubmitFailedError);
      expect(to.calls).toBe(1);
    }
  });

  it('gives up in time and says that the order may be submitted again', async () => {
    const to = { ...target(new ServiceBusError('busy', 'ServiceBusy')), timeoutMs: 0 };
    const failure: unknown = await submitOrder(draft, to).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SubmitFailedError);
    expect(failure).toMatchObject({ orderId: 'order-1', message: expect.stringContaining('busy') as string });
  });
});
