import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AgentRequest } from '../../functions/contracts/agent-request.js';
import { eventually } from '../support/app-eventually.js';
import { expectFailed, expectProcessed } from '../support/app-expect.js';
import { showRecord, submit, untilRecord } from '../support/app-orders.js';
import { startApp } from '../support/app-stack.js';
import type { App } from '../support/app-stack.js';

const unavailable = { status: 503, code: 'Unavailable' };

const otherToken = (digit: number): string => `00000000-0000-4000-8000-00000000000${digit}`;

describe.concurrent('step 5: agents', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({ STEP_DEADLINE_MS: '4000' });
  });
  afterAll(() => app.stop());

  const callsOf = (orderId: string): readonly string[] =>
    app.remote.calls(orderId).map(({ operation, key, token }) => `${operation} ${key} ${token}`);

  it("calls the remote service with the step's key and the attempt's token (R23, R101)", async () => {
    await submit(app, 'keys');
    await expectProcessed(app, 'keys');
    expect(callsOf('keys')).toEqual([
      'charges keys.payment 1',
      'reservations keys.inventory 1',
      'shipments keys.shipping 1',
    ]);
  });

  it.each(['payment', 'inventory', 'shipping'])('tries %s again within its allowance (R22)', async (service) => {
    const orderId = `again-${service}`;
    app.remote.script({ orderId, service, disturbance: unavailable, times: 1 });
    await submit(app, orderId);
    expect(await expectProcessed(app, orderId)).toMatchObject({ attempt: 1, failureCount: 0 });
    const toService = app.remote.calls(orderId).filter((call) => call.service === service);
    expect(toService).toHaveLength(2);
    expect(new Set(toService.map(({ key }) => key))).toEqual(new Set([`${orderId}.${service}`]));
  });

  it('says nothing when its allowance is used up: the next attempt does the step, once (T23, R50)', async () => {
    app.remote.script({ orderId: 'used-up', service: 'payment', disturbance: unavailable, times: 2 });
    await submit(app, 'used-up');
    expect(await expectProcessed(app, 'used-up')).toMatchObject({ attempt: 2, failureCount: 1 });
    expect(callsOf('used-up').slice(0, 3)).toEqual([
      'charges used-up.payment 1',
      'charges used-up.payment 1',
      'charges used-up.payment 2',
    ]);
  });

  it.each([200, 302, 404, 422])('takes a %d that is not by the contract for no answer at all (T23)', async (status) => {
    const orderId = `gateway-${status}`;
    app.remote.script({ orderId, service: 'payment', disturbance: { status }, times: 2 });
    await submit(app, orderId);
    expect(await expectProcessed(app, orderId)).toMatchObject({ attempt: 2, failureCount: 1 });
    expect(app.log.events('agent-silent', orderId)).toMatchObject([{ outcome: 'unknown' }]);
  });

  it('ends the order in Error when the remote service can never do it (R102)', async () => {
    app.remote.script({ orderId: 'hopeless', service: 'payment', disturbance: { status: 400, code: 'Closed' } });
    await submit(app, 'hopeless');
    const record = await expectFailed(app, 'hopeless', { as: 'Error', reason: 'Failed' });
    expect(record).toMatchObject({ failureCount: 1, error: { code: 'Closed', stepId: 'payment' } });
    expect(app.remote.calls('hopeless')).toHaveLength(1);
    expect(app.log.alerts('hopeless')).toEqual(['order-needs-operator']);
  });

  it('starts no call after the deadline of its request (R25, C47)', async () => {
    const completeBy = new Date(Date.now() - 1_000).toISOString();
    await app.send('payment-requests', { body: paymentRequest('too-late', { completeBy }), messageId: 'too-late' });
    await eventually(() => {
      expect(app.log.events('agent-silent', 'too-late')).toHaveLength(1);
    });
    expect(app.remote.calls('too-late')).toEqual([]);
  });

  it('has one effect however often its request is delivered (R57)', async () => {
    app.remote.script({ orderId: 'repeated', service: 'inventory', disturbance: 'hold' });
    await submit(app, 'repeated');
    const record = await untilRecord(app, 'repeated', ({ steps }) => steps[1]?.state === 'Running');
    const completeBy = record.completeBy ?? '';
    for (const replyToken of [otherToken(1), otherToken(2)]) {
      const body = paymentRequest('repeated', { completeBy, replyToken });
      await app.send('payment-requests', { body, messageId: `repeated.${replyToken}` });
    }
    await eventually(() => {
      expect(callsOf('repeated').filter((call) => call.startsWith('charges'))).toHaveLength(3);
    });
    app.remote.release('repeated');
    expect(await expectProcessed(app, 'repeated')).toMatchObject({ attempt: 1 });
  });

  it('refuses a request that breaks the contract and calls nothing (C20)', async () => {
    const request = { ...paymentRequest('broken'), requestId: 'other.1.payment' };
    await app.send('payment-requests', { body: request, messageId: 'broken' });
    await eventually(() => {
      const rejected = app.log.events('message-rejected').filter(({ queue }) => queue === 'payment-requests');
      expect(rejected).toMatchObject([{ reason: 'InvalidRequest' }]);
    });
    expect(app.remote.calls('broken')).toEqual([]);
  });

  it('spends the retry budget at dispatch, and no more than it allows (R50)', async () => {
    await submit(app, 'budget');
    await expectProcessed(app, 'budget');
    const { budget } = await showRecord(app, 'budget');
    expect(budget).toEqual({ allowed: 30, spent: 10 });
  });

  function paymentRequest(orderId: string, overrides: Partial<AgentRequest> = {}): AgentRequest {
    return {
      schemaVersion: 1,
      requestId: `${orderId}.1.payment`,
      orderId,
      attempt: 1,
      stepId: 'payment',
      action: 'do',
      completeBy: new Date(Date.now() + 60_000).toISOString(),
      callAllowance: 2,
      idempotencyKey: `${orderId}.payment`,
      fencingToken: 1,
      replyToken: otherToken(0),
      payload: {},
      traceparent: null,
      ...overrides,
    };
  }
});
