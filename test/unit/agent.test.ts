import { beforeEach, describe, expect, it, vi } from 'vitest';
import { serveRequest } from '../../functions/agents/agent.js';
import type { AgentDeps } from '../../functions/agents/agent.js';
import { createCircuitBreaker } from '../../functions/agents/circuit-breaker.js';
import { inventoryAgent } from '../../functions/agents/inventory-agent.js';
import { paymentAgent } from '../../functions/agents/payment-agent.js';
import type { RemoteCall, RemoteOutcome } from '../../functions/agents/remote-service.js';
import { serveMessage } from '../../functions/agents/serve-message.js';
import type { MessageDeps } from '../../functions/agents/serve-message.js';
import { shippingAgent } from '../../functions/agents/shipping-agent.js';
import { createRecentMap } from '../../functions/azure/recent-map.js';
import { agentReplySchema, maxReplyMessageLength } from '../../functions/contracts/agent-reply.js';
import type { AgentReply } from '../../functions/contracts/agent-reply.js';
import type { AgentRequest } from '../../functions/contracts/agent-request.js';
import { addMs } from '../../functions/contracts/timestamp.js';
import { createManualClock, startOfTime } from '../support/manual-clock.js';
import type { ManualClock } from '../support/manual-clock.js';
import { createRecordingSender, createRecordingTelemetry } from '../support/recording.js';
import type { RecordingSender } from '../support/recording.js';

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

function serve(
  deps: AgentDeps,
  changes: Partial<AgentRequest> = {},
  isRepeat = false,
): Promise<AgentReply | undefined> {
  return serveRequest(paymentAgent, { request: { ...request, ...changes }, isRepeat }, deps);
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

describe('an agent whose remote service says no after a call without an answer', () => {
  const failed: RemoteOutcome = { kind: 'failed', code: 'Closed', message: 'closed' };

  it.each([
    [[unknown, refused], 'refused', true],
    [[unknown, failed], 'failed', true],
    [[unknown, unknown, refused], 'refused', true],
    [[{ kind: 'busy' }, refused], 'refused', undefined],
    [[refused], 'refused', undefined],
    [[failed], 'failed', undefined],
  ] as const)('after %j it answers %s, uncertain: %s (G6, T71)', async (outcomes, outcome, uncertain) => {
    const reply = agentReplySchema.parse(await serve(depsWith(outcomes)));
    expect(reply.outcome).toBe(outcome);
    expect(reply.uncertain).toBe(uncertain);
  });

  it('answers a success as ever: it is the answer to all calls with its key', async () => {
    expect((await serve(depsWith([unknown, succeeded]), {}, true))?.uncertain).toBeUndefined();
  });
});

describe('an agent whose remote service has too many calls', () => {
  const busy = (retryAfterMs?: number): RemoteOutcome => ({ kind: 'busy', ...(retryAfterMs && { retryAfterMs }) });

  it('waits as long as it is asked to, and calls again (R22)', async () => {
    expect(await serve(depsWith([busy(1_500), succeeded]))).toMatchObject({ outcome: 'succeeded' });
    expect(waits).toEqual([1_500]);
  });

  it('waits no shorter than before any further call', async () => {
    await serve({ ...depsWith([busy(0), succeeded]), retryDelayMs: 200 });
    expect(waits).toEqual([200]);
  });

  it.each([
    ['past its deadline', 4_000, 4_000],
    ['for long', 5_001, 60_000],
  ])('defers its request when it is asked to wait %s: nothing was done (G5, T67)', async (_name, ms, dueInMs) => {
    const reply = await serve(depsWith([busy(ms)]), { completeBy: addMs(startOfTime, dueInMs) });
    expect(agentReplySchema.parse(reply)).toMatchObject({ outcome: 'deferred', retryAfterMs: ms });
    expect(reply?.uncertain).toBeUndefined();
    expect(calls).toHaveLength(1);
    expect(waits).toEqual([]);
  });

  it('defers its request when its allowance is used up (R50)', async () => {
    expect(await serve(depsWith([busy()]), { callAllowance: 2 })).toMatchObject({ outcome: 'deferred' });
    expect(calls).toHaveLength(2);
  });

  it('says nothing when another call of the request has had no answer (G5)', async () => {
    expect(await serve(depsWith([unknown, busy()]))).toBeUndefined();
  });

  it('leaves its circuit closed: the remote service is there (R119)', async () => {
    const breaker = createCircuitBreaker(clock, { failureThreshold: 1, openMs: 60_000 });
    await serve({ ...depsWith([busy()]), breaker });
    expect(breaker.tryPass()).toEqual({ kind: 'pass' });
  });

  it('waits before a further call also when it has had no definite answer, if it is asked to', async () => {
    await serve(depsWith([{ kind: 'unknown', cause: 'Http503', retryAfterMs: 900 }, succeeded]));
    expect(waits).toEqual([900]);
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

  it('defers a request that was delivered before, and says that the earlier delivery may have called (G6, U1)', async () => {
    expect((await serve(open()))?.uncertain).toBeUndefined();
    expect(await serve(open(), {}, true)).toMatchObject({ outcome: 'deferred', uncertain: true });
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

function messageDeps(outcomes: readonly RemoteOutcome[]): MessageDeps & { readonly sender: RecordingSender } {
  return { ...depsWith(outcomes), sender: createRecordingSender(), answered: createRecentMap(10) };
}

describe('serveMessage', () => {
  it('sends the reply to the agent’s own queue under the request’s id, so that a repeat is dropped (T25, R96)', async () => {
    const deps = messageDeps([succeeded]);
    const { sender } = deps;
    for (const deliveryCount of [1, 2]) await serveMessage(paymentAgent, { body: request, deliveryCount }, deps);
    expect(sender.queued('payment-replies')).toHaveLength(1);
    expect(sender.sent[0]).toMatchObject({
      messageId: 'A-1.2.payment',
      correlationId: 'A-1',
      body: { outcome: 'succeeded' },
    });
  });

  it('sends nothing when there is nothing definite to say', async () => {
    const deps = messageDeps([unknown]);
    expect(await serveMessage(paymentAgent, { body: request, deliveryCount: 1 }, deps)).toBeUndefined();
    expect(deps.sender.sent).toEqual([]);
  });

  it.each([
    ['a refusal', [refused, succeeded], 'refused'],
    ['a deferral', [{ kind: 'busy', retryAfterMs: 60_000 }, succeeded], 'deferred'],
  ] as const)(
    'gives a request that comes again the same answer, so that %s stays true',
    async (_name, outcomes, outcome) => {
      const deps = messageDeps(outcomes);
      for (const deliveryCount of [1, 2]) await serveMessage(paymentAgent, { body: request, deliveryCount }, deps);
      expect(calls).toHaveLength(1);
      expect(deps.sender.sent.map(({ body }) => body)).toMatchObject([{ outcome }, { outcome }]);
    },
  );

  it('serves a request that comes again after silence, and one with another token', async () => {
    const deps = messageDeps([unknown, succeeded, refused]);
    const once = { ...request, callAllowance: 1 };
    const other = { ...once, replyToken: '3f0e8a52-9c5b-5d3a-9a53-0b6c4e8f1a22' };
    for (const body of [once, once, other]) await serveMessage(paymentAgent, { body, deliveryCount: 2 }, deps);
    expect(calls).toHaveLength(3);
    expect(deps.sender.sent.map(({ body }) => body)).toMatchObject([{ outcome: 'succeeded' }, { outcome: 'refused' }]);
  });

  it('refuses what is no request, without a call', async () => {
    const deps = messageDeps([succeeded]);
    const message = { body: { ...request, fencingToken: 0 }, deliveryCount: 1 };
    expect(await serveMessage(paymentAgent, message, deps)).toMatchObject({ reason: 'InvalidRequest' });
    expect(calls).toEqual([]);
  });

  it.each([
    [1, undefined],
    [2, true],
    [NaN, true],
  ])('calls the refusal of delivery %d uncertain: %s (G6)', async (deliveryCount, uncertain) => {
    const deps = messageDeps([refused]);
    await serveMessage(paymentAgent, { body: request, deliveryCount }, deps);
    const [reply] = deps.sender.sent.map(({ body }) => agentReplySchema.parse(body));
    expect(reply).toMatchObject({ outcome: 'refused' });
    expect(reply?.uncertain).toBe(uncertain);
  });
});
