import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ServiceBusReceivedMessage } from '@azure/service-bus';
import { eventually } from '../support/app-eventually.js';
import { expectProcessed } from '../support/app-expect.js';
import { submit } from '../support/app-orders.js';
import { startApp } from '../support/app-stack.js';
import type { App } from '../support/app-stack.js';
import { orderMessage } from '../support/builders.js';

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

describe('the trace of an order', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp();
  });
  afterEach(() => app.stack.setFaults('functions-host'));
  afterAll(() => app.stop());

  const submitTraced = (orderId: string, property: string): Promise<void> =>
    app.send('orders', {
      body: orderMessage({ orderId }),
      messageId: orderId,
      applicationProperties: { [property]: traceparent },
    });

  /** The order's message in a queue, which somebody holds there. */
  const heldIn = async (queue: string, orderId: string): Promise<ServiceBusReceivedMessage> => {
    const receiver = app.bus.createReceiver(queue);
    try {
      return await eventually(async () => {
        const found = (await receiver.peekMessages(50)).find(({ correlationId }) => correlationId === orderId);
        if (found === undefined) throw new Error(`${queue} holds no message of ${orderId}`);
        return found;
      });
    } finally {
      await receiver.close();
    }
  };
  const statusTraces = (orderId: string): readonly unknown[] =>
    app.statuses['web-shop']
      .received(orderId)
      .map(({ applicationProperties }) => applicationProperties?.['Diagnostic-Id']);

  it.each(['Diagnostic-Id', 'traceparent'])(
    'that its message names as %s goes on to agent, reply and application (C97)',
    async (property) => {
      const orderId = `traced-by-${property}`;
      app.remote.script({ orderId, service: 'payment', disturbance: 'hold' });
      const rules = [{ operation: 'invoke', entity: 'agent-reply-payment', action: 'pause' } as const];
      await app.stack.setFaults('functions-host', { seed: 1, rules });
      await submitTraced(orderId, property);

      const request = await heldIn('payment-requests', orderId);
      expect(request.body).toMatchObject({ traceparent });
      expect(request.applicationProperties).toMatchObject({ 'Diagnostic-Id': traceparent });
      app.remote.release(orderId);
      const reply = await heldIn('payment-replies', orderId);
      expect(reply.applicationProperties).toMatchObject({ 'Diagnostic-Id': traceparent });

      await app.stack.setFaults('functions-host');
      expect(await expectProcessed(app, orderId)).toMatchObject({ traceparent });
      expect(statusTraces(orderId)).toEqual([traceparent, traceparent]);
    },
  );

  it('is nobody’s invention: an order without one has none (C97)', async () => {
    await submit(app, 'untraced');
    expect(await expectProcessed(app, 'untraced')).toMatchObject({ traceparent: null });
    expect(statusTraces('untraced')).toEqual([undefined, undefined]);
  });
});
