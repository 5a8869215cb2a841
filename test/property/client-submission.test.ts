import fc from 'fast-check';
import { ServiceBusError } from '@azure/service-bus';
import type { ServiceBusMessage } from '@azure/service-bus';
import { describe, expect, it } from 'vitest';
import { SubmitFailedError } from '../../client/errors.js';
import { createStatusMemory } from '../../client/status-memory.js';
import { submitOrder } from '../../client/submit-order.js';
import { exampleOrder } from '../../cli/orders/example-order.js';
import type { StatusMessage } from '../../functions/contracts/status-message.js';

const orderIds = ['a', 'b'] as const;

type Happening =
  | { readonly kind: 'submit'; readonly orderId: string; readonly send: 'ok' | 'fails' | 'answerIsLost' }
  | { readonly kind: 'submitAfterOldest'; readonly orderId: string }
  | { readonly kind: 'takeIn'; readonly isBusy: boolean }
  | { readonly kind: 'read'; readonly isSettled: boolean };

const happenings: fc.Arbitrary<readonly Happening[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: submission() },
    {
      weight: 1,
      arbitrary: fc.constantFrom(...orderIds).map((orderId) => ({ kind: 'submitAfterOldest', orderId }) as const),
    },
    { weight: 3, arbitrary: fc.boolean().map((isBusy) => ({ kind: 'takeIn', isBusy }) as const) },
    { weight: 3, arbitrary: fc.boolean().map((isSettled) => ({ kind: 'read', isSettled }) as const) },
  ),
  { maxLength: 30 },
);

function submission(): fc.Arbitrary<Happening> {
  const send = fc.constantFrom('ok' as const, 'fails' as const, 'answerIsLost' as const);
  return fc.record({ kind: fc.constant('submit' as const), orderId: fc.constantFrom(...orderIds), send });
}

/** A broker that drops repeats, and an app that takes an order in or turns it away; time passes with each step. */
function createWorld() {
  const memory = createStatusMemory(10);
  const seenIds = new Set<string>();
  const waiting: string[] = [];
  const accepted = new Set<string>();
  const statuses: StatusMessage[] = [];
  const rejections: StatusMessage[] = [];
  let time = Date.parse('2030-01-01T00:00:00.000Z');

  const store = ({ messageId, correlationId }: ServiceBusMessage): void => {
    if (seenIds.has(String(messageId))) return;
    seenIds.add(String(messageId));
    waiting.push(String(correlationId));
  };
  const sender = (send: 'ok' | 'fails' | 'answerIsLost') => ({
    sendMessages(message: unknown): Promise<void> {
      if (send !== 'fails') store(message as ServiceBusMessage);
      return send === 'ok' ? Promise.resolve() : Promise.reject(new ServiceBusError('cut', 'QuotaExceeded'));
    },
  });
  const submit = async (orderId: string, send: 'ok' | 'fails' | 'answerIsLost', after?: StatusMessage) => {
    const target = { application: 'web-shop', memory, timeoutMs: 0, signal: new AbortController().signal };
    const named = after === undefined ? {} : { after };
    await submitOrder(exampleOrder(orderId), { ...target, ...named, sender: sender(send) });
    return orderId;
  };
  const takeIn = (isBusy: boolean): void => {
    const orderId = waiting.shift();
    if (orderId === undefined || accepted.has(orderId)) return;
    const at = new Date((time += 1_000)).toISOString();
    const status = { schemaVersion: 1, orderId, at } as const;
    if (!isBusy) accepted.add(orderId);
    statuses.push(
      isBusy ? { ...status, seq: 0, status: 'OrderRejected' } : { ...status, seq: 1, status: 'OrderReceived' },
    );
  };
  const read = (isSettled: boolean): void => {
    const status = isSettled ? statuses.shift() : statuses[0];
    if (status === undefined) return;
    memory.remember(status);
    if (status.status === 'OrderRejected') rejections.push(status);
  };
  const hasNewsOf = (orderId: string): boolean =>
    statuses.some((status) => status.orderId === orderId && memory.isNews(status));
  /** An order that was submitted lies in the queue, was accepted, or its rejection is still to be read. */
  const isLost = (orderId: string): boolean =>
    !accepted.has(orderId) && !waiting.includes(orderId) && !hasNewsOf(orderId);
  return {
    submit,
    takeIn,
    read,
    isLost,
    oldestRejection: (id: string) => rejections.find((each) => each.orderId === id),
  };
}

type World = ReturnType<typeof createWorld>;

/** Returns the order that was submitted successfully, if one was. */
async function carryOut(world: World, happening: Happening): Promise<string | undefined> {
  switch (happening.kind) {
    case 'submit':
      return world.submit(happening.orderId, happening.send).catch(expectSubmitFailed);
    case 'submitAfterOldest':
      return world.submit(happening.orderId, 'ok', world.oldestRejection(happening.orderId));
    case 'takeIn':
      world.takeIn(happening.isBusy);
      return undefined;
    case 'read':
      world.read(happening.isSettled);
      return undefined;
  }
}

function expectSubmitFailed(error: unknown): undefined {
  expect(error).toBeInstanceOf(SubmitFailedError);
  return undefined;
}

describe('submitting orders to a system that turns some away', () => {
  it('never loses an order, whatever fails, is rejected and is tried again', async () => {
    await fc.assert(
      fc.asyncProperty(happenings, async (sequence) => {
        const world = createWorld();
        for (const happening of sequence) {
          const submitted = await carryOut(world, happening);
          if (submitted !== undefined) expect(world.isLost(submitted)).toBe(false);
        }
      }),
      { numRuns: 500 },
    );
  });
});
