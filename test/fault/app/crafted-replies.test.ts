import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { AgentReply } from '../../../functions/contracts/agent-reply.js';
import { parseAgentRequest } from '../../../functions/contracts/agent-request.js';
import type { AgentRequest } from '../../../functions/contracts/agent-request.js';
import { eventually } from '../../support/app-eventually.js';
import { expectProcessed } from '../../support/app-expect.js';
import { openInbox } from '../../support/app-inbox.js';
import type { Inbox } from '../../support/app-inbox.js';
import { showRecord, submit, untilRecord } from '../../support/app-orders.js';
import { startApp } from '../../support/app-stack.js';
import type { App } from '../../support/app-stack.js';

const foreignToken = '00000000-0000-4000-8000-000000000000';

describe('a reply that no agent of ours sent', () => {
  let app: App;
  let deadLetters: Inbox;
  beforeAll(async () => {
    app = await startApp();
    deadLetters = openInbox(app.bus, 'payment-replies-dead-letter');
  });
  afterEach(() => app.stack.setFaults('service-bus'));
  afterAll(async () => {
    await deadLetters.close();
    await app.stop();
  });

  const replyOf = (orderId: string, overrides: Readonly<Record<string, unknown>> = {}): object => {
    const ids = { requestId: `${orderId}.1.payment`, orderId, attempt: 1, stepId: 'payment' };
    return { schemaVersion: 1, ...ids, replyToken: foreignToken, outcome: 'succeeded', ...overrides };
  };
  const eventsRaised = async (): Promise<number> => (await app.stack.counters('functions-host'))['events.raised'] ?? 0;
  const holdAtPayment = async (orderId: string): Promise<void> => {
    app.remote.script({ orderId, service: 'payment', disturbance: 'hold' });
    await submit(app, orderId);
    await eventually(() => {
      expect(app.remote.calls(orderId)).toHaveLength(1);
    });
  };

  it('and names its instance itself reaches no instance, and no other operation of the runtime (C4)', async () => {
    await holdAtPayment('victim');
    const raisedBefore = await eventsRaised();
    const crafted = [
      { ...replyOf('victim'), orderId: 'victim.1/terminate?reason=x#' },
      { ...replyOf('victim'), orderId: '../orchestrators/X' },
      { ...replyOf('victim'), stepId: 'x/../../victim.1/suspend?reason=1#' },
      { ...replyOf('victim'), attempt: '1?taskHub=y' },
      { ...replyOf('victim'), requestId: 'victim.2.payment' },
      { instanceId: 'victim.1', orderId: 'victim', status: 'Succeeded' },
    ];
    for (const [index, body] of crafted.entries()) {
      await app.send('payment-replies', { body, messageId: `crafted-${index}`, correlationId: '12345678901234567890' });
    }
    await eventually(() => {
      const reasons = deadLetters.messages.map(
        ({ applicationProperties }) => applicationProperties?.['DeadLetterReason'],
      );
      expect(reasons).toEqual(crafted.map(() => 'InvalidReply'));
    });
    expect(await eventsRaised()).toBe(raisedBefore);
    expect(await app.instance('victim.1')).toMatchObject({ runtimeStatus: 'Running' });
    app.remote.release('victim');
    expect(await expectProcessed(app, 'victim')).toMatchObject({ attempt: 1 });
  });

  it('and has the right ids but not the token does not complete the step (T25)', async () => {
    await holdAtPayment('forged');
    const before = await showRecord(app, 'forged');
    const raisedBefore = await eventsRaised();
    for (const outcome of ['succeeded', 'refused', 'failed']) {
      await app.send('payment-replies', { body: replyOf('forged', { outcome }), messageId: `forged-${outcome}` });
    }
    await eventually(async () => {
      expect(await eventsRaised()).toBe(raisedBefore + 3);
    });
    expect(await showRecord(app, 'forged')).toEqual(before);
    app.remote.release('forged');
    expect(await expectProcessed(app, 'forged')).toMatchObject({ attempt: 1, failureCount: 0 });
  });

  it('but repeats one of ours completes its own step once, and no other step (C3, C35, T16)', async () => {
    const rules = [{ operation: 'deliver', entity: 'payment-requests', action: 'pause' } as const];
    await app.stack.setFaults('service-bus', { seed: 1, rules });
    app.remote.script({ orderId: 'repeated', service: 'shipping', disturbance: 'hold' });
    await submit(app, 'repeated');
    const { replyToken } = await peekRequest('repeated');
    for (const index of [1, 2, 3, 4, 5]) {
      await app.send('payment-replies', { body: replyOf('repeated', { replyToken }), messageId: `repeated-${index}` });
    }
    const record = await untilRecord(app, 'repeated', ({ steps }) => steps[2]?.state === 'Running');
    expect(record.steps.map(({ state }) => state)).toEqual(['Completed', 'Completed', 'Running']);

    await app.stack.setFaults('service-bus');
    await eventually(() => {
      expect(app.remote.done('repeated')).toContain('payment/charges');
    });
    expect(await showRecord(app, 'repeated')).toEqual(record);
    app.remote.release('repeated');
    expect(await expectProcessed(app, 'repeated')).toMatchObject({ attempt: 1 });
  });

  it('to an order that is finished is counted and forgotten, however many come (C10, C52)', async () => {
    await submit(app, 'finished');
    const record = await expectProcessed(app, 'finished');
    const count = 30;
    for (let index = 0; index < count; index += 1) {
      await app.send('payment-replies', { body: replyOf('finished'), messageId: `finished-${index}` });
    }
    await eventually(() => {
      expect(app.log.events('reply-late', 'finished')).toHaveLength(count);
    });
    expect(await showRecord(app, 'finished')).toEqual(record);
    expect(app.log.alerts('finished')).toEqual([]);
    expect(deadLetters.messages.filter(({ messageId }) => String(messageId).startsWith('finished'))).toEqual([]);
  });

  it('to an order that does not exist is counted and forgotten (C10)', async () => {
    const body: Partial<AgentReply> = replyOf('no-such-order');
    await app.send('payment-replies', { body, messageId: 'no-such-order' });
    await eventually(() => {
      expect(app.log.events('reply-late', 'no-such-order')).toHaveLength(1);
    });
  });

  /** The request that waits for its agent. */
  async function peekRequest(orderId: string): Promise<AgentRequest> {
    const receiver = app.bus.createReceiver('payment-requests');
    try {
      return await eventually(async () => {
        const waiting = await receiver.peekMessages(10);
        const message = waiting.find(({ correlationId }) => correlationId === orderId);
        const parsed = parseAgentRequest(message?.body);
        if (!parsed.ok) throw new Error(parsed.rejection.description);
        return parsed.value;
      });
    } finally {
      await receiver.close();
    }
  }
});
