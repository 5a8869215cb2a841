import { beforeEach, describe, expect, it, vi } from 'vitest';
import { serveRequest } from '../../functions/agents/agent.js';
import type { AgentDeps } from '../../functions/agents/agent.js';
import { createCircuitBreaker } from '../../functions/agents/circuit-breaker.js';
import { inventoryAgent } from '../../functions/agents/inventory-agent.js';
import { paymentAgent } from '../../functions/agents/payment-agent.js';
import type { RemoteCall, RemoteOutcome } from '../../functions/agents/remote-service.js';
import { serveMessage } from '../../functions/agents/serve-message.js';
import { shippingAgent } from '../../functions/agents/shipping-agent.js';
import { agentReplySchema, maxReplyMessageLength } from '../../functions/contracts/agent-reply.js';
import type { AgentReply } from '../../functions/contracts/agent-reply.js';
import type { AgentRequest } from '../../functions/contracts/agent-request.js';
import { addMs } from '../../functions/contracts/timestamp.js';
import { createManualClock, startOfTime } from '../support/manual-clock.js';
import type { ManualClock } from '../support/manual-clock.js';
import { createRecordingSender, createRecordingTelemetry } from '../support/recording.js';

const waits = vi.hoisted((): number[] => []);

/** Waits between calls are noted and pass at once. */
vi.mock('node:timers/promises', () => ({
  setTimeout: (ms: number) => {
    waits.push(ms);
    return Promise.resolve();
  },
}));

const request: AgentRequest = {
  schemaVersion: 1,
  requestId: 'A-1.2.payment',
  orderId: 'A-1',
  attempt: 2,
  stepId: 'payment',
  action: 'do',
  completeBy: addMs(startOfTime, 4_000),
  callAllowance: 3,
  idempotencyKey: 'A-1.payment',
  fencingToken: 2,
  replyToken: '3f0e8a52-9c5b-5d3a-9a53-0b6c4e8f1a11',
  payload: { amountMinor: 3998 },
  traceparent: null,
};

const unknown: RemoteOutcome = { kind: 'unknown', cause: 'Http503' };
const succeeded: RemoteOutcome = { kind: 'succeeded', reference: 'charge-1' };
const refused: RemoteOutcome = { kind: 'refused', code: 'Declined', message: 'declined' };

let calls: RemoteCall[];
let clock: ManualClock;
let telemetry: ReturnType<typeof createRecordingTelemetry>;

beforeEach(() => {
  waits.length = 0;
  calls = [];
  clock = createManualClock();
  telemetry = createRecordingTelemetry();
});

/** A remote service that answers one after the other; the last answer stays. */
function depsWith(outcomes: readonly RemoteOutcome[], onCall: () => void = () => undefined): AgentDeps {
  const breaker = createCircuitBreaker(clock, { failureThreshold: 100, openMs: 1_000 });
  return {
    breaker,
    clock,
    telemetry,
    retryDelayMs: 1,
    random: () => 0,
    remote: {
      call: (call) => {
        calls.push(call);
        onCall();
        return Promise.resolve(outcomes[Math.min(calls.length, outcomes.length) - 1] ?? unknown);
      },
    },
  };
}

function serve(deps: AgentDeps, changes: Partial<AgentRequest> = {}, mayDefer = true): Promise<AgentReply | undefined> {
  return serveRequest(paymentAgent, { request: { ...request, ...changes }, mayDefer }, deps);
}

describe('an agent', () => {
  it('answers success with the ids and the token of its request', async () => {
    const reply = await serve(depsWith([succeeded]));
    expect(agentReplySchema.parse(reply)).toEqual({
      schemaVersion: 1,
      requestId: 'A-1.2.payment',
      replyToken: request.replyToken,
      orderId: 'A-1',
      attempt: 2,
      stepId: 'payment',
      outcome: 'succeeded',
      result: { reference: 'charge-1' },
    });
  });

  it('sends the key and the fencing token with every call (G2, R23, R101)', async () => {
    await serve(depsWith([unknown, unknown, succeeded]));
    expect(calls).toHaveLength(3);
    for (const call of calls) expect(call).toMatchObject({ idempotencyKey: 'A-1.payment', fencingToken: 2 });
  });

  it.each([
    ['refused', refused],
    ['failed', { kind: 'failed', code: 'Closed', message: 'closed' }],
  ] as const)('answers a definite no as %s, after one call (G3, R22)', async (outcome, remote) => {
    const reply = await serve(depsWith([remote]));
    expect(reply).toMatchObject({ outcome, error: { code: remote.code } });
    expect(calls).toHaveLength(1);
  });

  it.each([
    ['unknown', unknown],
    ['fenced', { kind: 'fenced' }],
  ] as const)('says nothing when the outcome is %s (G3, T23, R27)', async (_name, remote) => {
    expect(await serve(depsWith([remote]))).toBeUndefined();
    expect(telemetry.events.map(({ name }) => name)).toEqual(['agent-silent']);
  });

  it('tells the log why an outcome is unknown', async () => {
    await serve(depsWith([unknown]));
    expect(telemetry.events[0]?.fields).toMatchObject({ outcome: 'unknown', cause: 'Http503' });
  });

  it('makes no more calls than its allowance (G1, R50)', async () => {
    await serve(depsWith([unknown]), { callAllowance: 2 });
    expect(calls).toHaveLength(2);
  });

  // C47, T26
  it.each([-1_000, 0])('starts nothing when its deadline passed %d ms ago (G1, R25)', async (ms) => {
    expect(await serve(depsWith([succeeded]), { completeBy: addMs(startOfTime, ms) })).toBeUndefined();
    expect(calls).toEqual([]);
  });

  it('starts no second call after its deadline (G1, R25)', async () => {
    const deps = depsWith([unknown], () => {
      clock.advance(4_000);
    });
    await serve(deps);
    expect(calls).toHaveLength(1);
  });

  it('looks at its deadline after it has waited, not before (G1, R25)', async () => {
    const random = (): number => {
      clock.advance(4_000);
      return 0;
    };
    await serve({ ...depsWith([unknown]), random });
    expect(calls).toHaveLength(1);
  });

  it('waits longer before each further call by jitter, so that agents do not call in step (R22)', async () => {
    const shares = [0, 0.25];
    await serve({ ...depsWith([unknown]), retryDelayMs: 200, random: () => shares.shift() ?? 1 }, { callAllowance: 4 });
    expect(waits).toEqual([200, 250, 400]);
  });

  it('gives a running call up at the deadline, and says nothing of it (R25, T23)', async () => {
    const untilGivenUp = (_call: RemoteCall, signal: AbortSignal): Promise<RemoteOutcome> =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          clock.advance(10);
          resolve(unknown);
        });
      });
    const deps = { ...depsWith([]), remote: { call: untilGivenUp } };
    expect(await serve(deps, { completeBy: addMs(startOfTime, 10) })).toBeUndefined();
  });

  it('that was late to receive starts nothing, whichever way its clock is wrong (C47)', async () => {
    clock.advance(300_000);
    await serve(depsWith([succeeded]));
    expect(calls).toEqual([]);
  });

  it('cuts the words of its remote service before they travel (T27, C37)', async () => {
    const reply = await serve(depsWith([{ ...refused, message: 'm'.repeat(100_000) }]));
    expect(reply?.error?.message).toHaveLength(maxReplyMessageLength);
  });

  it.each([
    ['do', 256, 'succeeded', undefined],
    ['do', 257, 'failed', 'ResultTooLarge'],
    ['undo', 257, 'succeeded', undefined],
  ] as const)('answers a %s whose reference has %d characters as %s (T27)', async (action, length, outcome, code) => {
    const reply = await serve(depsWith([{ ...succeeded, reference: 'r'.repeat(length) }]), { action });
    expect(agentReplySchema.parse(reply)).toMatchObject({ outcome });
    expect(reply?.error?.code).toBe(code);
    expect(telemetry.events.at(-1)?.fields).toMatchObject({ outcome });
  });

  it('turns a request into the operation of its remote service, and an undo into the other', () => {
    const undo = { ...request, action: 'undo' } as const;
    const operations = [paymentAgent, inventoryAgent, shippingAgent].map(({ toRemoteCall }) => [
      toRemoteCall(request).operation,
      toRemoteCall(undo).operation,
    ]);
    expect(operations).toEqual([
      ['charges', 'refunds'],
      ['reservations', 'releases'],
      ['shipments', 'cancellations'],
    ]);
    expect(paymentAgent.toRemoteCall(request).body).toEqual({ orderId: 'A-1', amountMinor: 3998 });
    expect(paymentAgent.toRemoteCall(undo).body).toEqual({ orderId: 'A-1' });
  });
});

describe('an agent whose circuit is open', () => {
  function open(): AgentDeps {
    const breaker = createCircuitBreaker(clock, { failureThreshold: 1, openMs: 1_000 });
    breaker.report(false);
    return { ...depsWith([succeeded]), breaker };
  }

  it('defers a request for which nothing was called (G5, T67)', async () => {
    expect(await serve(open())).toMatchObject({ outcome: 'deferred', retryAfterMs: 1_000 });
    expect(calls).toEqual([]);
  });

  it('says nothing when an earlier delivery may have called (G5, U1)', async () => {
    expect(await serve(open(), {}, false)).toBeUndefined();
  });

  it('is not what a definite no leads to: the remote service is well (R119)', async () => {
    const breaker = createCircuitBreaker(clock, { failureThreshold: 1, openMs: 60_000 });
    for (let count = 0; count < 3; count += 1) await serve({ ...depsWith([refused]), breaker });
    expect(breaker.tryPass()).toEqual({ kind: 'pass' });
  });

  it('says nothing when this very request has called (G5)', async () => {
    const breaker = createCircuitBreaker(clock, { failureThreshold: 1, openMs: 60_000 });
    expect(await serve({ ...depsWith([unknown]), breaker })).toBeUndefined();
    expect(calls).toHaveLength(1);
  });
});

describe('the circuit breaker', () => {
  const policy = { failureThreshold: 3, openMs: 1_000 };

  it('opens after so many calls in a row without a definite answer, and tells when to come again (R119)', () => {
    const breaker = createCircuitBreaker(clock, policy);
    breaker.report(false);
    breaker.report(false);
    expect(breaker.tryPass()).toEqual({ kind: 'pass' });
    breaker.report(false);
    expect(breaker.tryPass()).toEqual({ kind: 'open', retryAfterMs: 1_000 });
  });

  it('forgets failures at a definite answer, a refusal too', () => {
    const breaker = createCircuitBreaker(clock, policy);
    for (const isDefinite of [false, false, true, false, false]) breaker.report(isDefinite);
    expect(breaker.tryPass()).toEqual({ kind: 'pass' });
  });

  it('lets one call try when its time is over, and closes with its answer', () => {
    const breaker = createCircuitBreaker(clock, policy);
    for (let count = 0; count < 3; count += 1) breaker.report(false);
    clock.advance(1_000);
    expect(breaker.tryPass()).toEqual({ kind: 'pass' });
    expect(breaker.tryPass().kind).toBe('open');
    breaker.report(true);
    expect(breaker.tryPass()).toEqual({ kind: 'pass' });
  });

  it('opens again when that call has no answer either', () => {
    const breaker = createCircuitBreaker(clock, policy);
    for (let count = 0; count < 3; count += 1) breaker.report(false);
    clock.advance(1_000);
    breaker.tryPass();
    breaker.report(false);
    expect(breaker.tryPass()).toEqual({ kind: 'open', retryAfterMs: 1_000 });
  });
});

describe('serveMessage', () => {
  it('sends the reply to the agent’s own queue under the request’s id, so that a repeat is dropped (T25, R96)', async () => {
    const sender = createRecordingSender();
    for (const deliveryCount of [1, 2]) {
      await serveMessage(paymentAgent, { body: request, deliveryCount }, { ...depsWith([succeeded]), sender });
    }
    expect(sender.queued('payment-replies')).toHaveLength(1);
    expect(sender.sent[0]).toMatchObject({
      messageId: 'A-1.2.payment',
      correlationId: 'A-1',
      body: { outcome: 'succeeded' },
    });
  });

  it('sends nothing when there is nothing definite to say', async () => {
    const sender = createRecordingSender();
    const message = { body: request, deliveryCount: 1 };
    expect(await serveMessage(paymentAgent, message, { ...depsWith([unknown]), sender })).toBeUndefined();
    expect(sender.sent).toEqual([]);
  });

  it('refuses what is no request, without a call', async () => {
    const deps = { ...depsWith([succeeded]), sender: createRecordingSender() };
    const message = { body: { ...request, fencingToken: 0 }, deliveryCount: 1 };
    expect(await serveMessage(paymentAgent, message, deps)).toMatchObject({ reason: 'InvalidRequest' });
    expect(calls).toEqual([]);
  });

  it('does not defer a request that was delivered before (G5)', async () => {
    const breaker = createCircuitBreaker(clock, { failureThreshold: 1, openMs: 1_000 });
    breaker.report(false);
    const sender = createRecordingSender();
    const deps = { ...depsWith([succeeded]), sender, breaker };
    await serveMessage(paymentAgent, { body: request, deliveryCount: 2 }, deps);
    expect(sender.sent).toEqual([]);
    await serveMessage(paymentAgent, { body: request, deliveryCount: 1 }, deps);
    expect(sender.sent[0]?.body).toMatchObject({ outcome: 'deferred' });
  });
});
