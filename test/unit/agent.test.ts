import { beforeEach, describe, expect, it } from 'vitest';
import { createCircuitBreaker } from '../../functions/agents/circuit-breaker.js';
import { inventoryAgent } from '../../functions/agents/inventory-agent.js';
import { paymentAgent } from '../../functions/agents/payment-agent.js';
import type { RemoteCall, RemoteOutcome } from '../../functions/agents/remote-service.js';
import { shippingAgent } from '../../functions/agents/shipping-agent.js';
import { agentReplySchema, maxReplyMessageLength } from '../../functions/contracts/agent-reply.js';
import { addMs } from '../../functions/contracts/timestamp.js';
import { createAgentBench, paymentRequest, remoteOutcomes } from '../support/agent-bench.js';
import type { AgentBench } from '../support/agent-bench.js';
import { startOfTime } from '../support/manual-clock.js';

const { unknown, succeeded, refused, failed } = remoteOutcomes;

let bench: AgentBench;
beforeEach(() => {
  bench = createAgentBench();
});

describe('an agent', () => {
  it('answers success with the ids and the token of its request', async () => {
    const reply = await bench.serve(bench.depsWith([succeeded]));
    expect(agentReplySchema.parse(reply)).toEqual({
      schemaVersion: 1,
      requestId: 'A-1.2.payment',
      replyToken: paymentRequest.replyToken,
      orderId: 'A-1',
      attempt: 2,
      stepId: 'payment',
      outcome: 'succeeded',
      result: { reference: 'charge-1' },
    });
  });

  it('sends the key and the fencing token with every call (G2, R23, R101)', async () => {
    await bench.serve(bench.depsWith([unknown, unknown, succeeded]));
    expect(bench.calls).toHaveLength(3);
    for (const call of bench.calls) expect(call).toMatchObject({ idempotencyKey: 'A-1.payment', fencingToken: 2 });
  });

  it.each([
    ['refused', refused],
    ['failed', { kind: 'failed', code: 'Closed', message: 'closed' }],
  ] as const)('answers a definite no as %s, after one call (G3, R22)', async (outcome, remote) => {
    const reply = await bench.serve(bench.depsWith([remote]));
    expect(reply).toMatchObject({ outcome, error: { code: remote.code } });
    expect(bench.calls).toHaveLength(1);
  });

  it.each([
    ['unknown', unknown],
    ['fenced', { kind: 'fenced' }],
  ] as const)('says nothing when the outcome is %s (G3, T23, R27)', async (_name, remote) => {
    expect(await bench.serve(bench.depsWith([remote]))).toBeUndefined();
    expect(bench.telemetry.events.map(({ name }) => name)).toEqual(['agent-silent']);
  });

  it('tells the log why an outcome is unknown', async () => {
    await bench.serve(bench.depsWith([unknown]));
    expect(bench.telemetry.events[0]?.fields).toMatchObject({ outcome: 'unknown', cause: 'Http503' });
  });

  it('makes no more calls than its allowance (G1, R50)', async () => {
    await bench.serve(bench.depsWith([unknown]), { callAllowance: 2 });
    expect(bench.calls).toHaveLength(2);
  });

  // C47, T26
  it.each([-1_000, 0])('starts nothing when its deadline passed %d ms ago (G1, R25)', async (ms) => {
    expect(await bench.serve(bench.depsWith([succeeded]), { completeBy: addMs(startOfTime, ms) })).toBeUndefined();
    expect(bench.calls).toEqual([]);
  });

  it('starts no second call after its deadline (G1, R25)', async () => {
    const deps = bench.depsWith([unknown], () => {
      bench.clock.advance(4_000);
    });
    await bench.serve(deps);
    expect(bench.calls).toHaveLength(1);
  });

  it('looks at its deadline after it has waited, not before (G1, R25)', async () => {
    const random = (): number => {
      bench.clock.advance(4_000);
      return 0;
    };
    await bench.serve({ ...bench.depsWith([unknown]), random });
    expect(bench.calls).toHaveLength(1);
  });

  it('waits longer before each further call by jitter, so that agents do not call in step (R22)', async () => {
    const shares = [0, 0.25];
    await bench.serve(
      { ...bench.depsWith([unknown]), retryDelayMs: 200, random: () => shares.shift() ?? 1 },
      { callAllowance: 4 },
    );
    expect(bench.waits).toEqual([200, 250, 400]);
  });

  it('gives a running call up at the deadline, and says nothing of it (R25, T23)', async () => {
    const untilGivenUp = (_call: RemoteCall, signal: AbortSignal): Promise<RemoteOutcome> =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          bench.clock.advance(250);
          resolve(unknown);
        });
      });
    const deps = { ...bench.depsWith([]), remote: { call: untilGivenUp } };
    expect(await bench.serve(deps, { completeBy: addMs(startOfTime, 250) })).toBeUndefined();
  });

  it('that was late to receive starts nothing, whichever way its clock is wrong (C47)', async () => {
    bench.clock.advance(300_000);
    await bench.serve(bench.depsWith([succeeded]));
    expect(bench.calls).toEqual([]);
  });

  it('cuts the words of its remote service before they travel (T27, C37)', async () => {
    const reply = await bench.serve(bench.depsWith([{ ...refused, message: 'm'.repeat(100_000) }]));
    expect(reply?.error?.message).toHaveLength(maxReplyMessageLength);
  });

  it.each([
    ['do', 256, 'succeeded', undefined],
    ['do', 257, 'failed', 'ResultTooLarge'],
    ['undo', 257, 'succeeded', undefined],
  ] as const)('answers a %s whose reference has %d characters as %s (T27)', async (action, length, outcome, code) => {
    const reply = await bench.serve(bench.depsWith([{ ...succeeded, reference: 'r'.repeat(length) }]), { action });
    expect(agentReplySchema.parse(reply)).toMatchObject({ outcome });
    expect(reply?.error?.code).toBe(code);
    expect(bench.telemetry.events.at(-1)?.fields).toMatchObject({ outcome });
  });

  it('turns a request into the operation of its remote service, and an undo into the other', () => {
    const undo = { ...paymentRequest, action: 'undo', payload: { reference: 'payment-7' } } as const;
    const operations = [paymentAgent, inventoryAgent, shippingAgent].map(({ toRemoteCall }) => [
      toRemoteCall(paymentRequest).operation,
      toRemoteCall(undo).operation,
    ]);
    expect(operations).toEqual([
      ['charges', 'refunds'],
      ['reservations', 'releases'],
      ['shipments', 'cancellations'],
    ]);
    expect(paymentAgent.toRemoteCall(paymentRequest).body).toEqual({ orderId: 'A-1', amountMinor: 3998 });
    expect(paymentAgent.toRemoteCall(undo).body).toEqual({ orderId: 'A-1', reference: 'payment-7' });
  });
});

describe('an agent whose remote service says no after a call without an answer', () => {
  it.each([
    [[unknown, refused], 'refused', true],
    [[unknown, failed], 'failed', true],
    [[unknown, unknown, refused], 'refused', true],
    [[{ kind: 'busy' }, refused], 'refused', undefined],
    [[refused], 'refused', undefined],
    [[failed], 'failed', undefined],
  ] as const)('after %j it answers %s, uncertain: %s (G6, T71)', async (outcomes, outcome, uncertain) => {
    const reply = agentReplySchema.parse(await bench.serve(bench.depsWith(outcomes)));
    expect(reply.outcome).toBe(outcome);
    expect(reply.uncertain).toBe(uncertain);
  });

  it('answers a success as ever: it is the answer to all calls with its key', async () => {
    expect((await bench.serve(bench.depsWith([unknown, succeeded]), {}, true))?.uncertain).toBeUndefined();
  });
});

describe('an agent whose remote service has too many calls', () => {
  const busy = (retryAfterMs?: number): RemoteOutcome => ({ kind: 'busy', ...(retryAfterMs && { retryAfterMs }) });

  it('waits as long as it is asked to, and calls again (R22)', async () => {
    expect(await bench.serve(bench.depsWith([busy(1_500), succeeded]))).toMatchObject({ outcome: 'succeeded' });
    expect(bench.waits).toEqual([1_500]);
  });

  it('waits no shorter than before any further call', async () => {
    await bench.serve({ ...bench.depsWith([busy(0), succeeded]), retryDelayMs: 200 });
    expect(bench.waits).toEqual([200]);
  });

  it.each([
    ['past its deadline', 4_000, 4_000],
    ['for long', 5_001, 60_000],
  ])('defers its request when it is asked to wait %s: nothing was done (G5, T67)', async (_name, ms, dueInMs) => {
    const reply = await bench.serve(bench.depsWith([busy(ms)]), { completeBy: addMs(startOfTime, dueInMs) });
    expect(agentReplySchema.parse(reply)).toMatchObject({ outcome: 'deferred', retryAfterMs: ms });
    expect(reply?.uncertain).toBeUndefined();
    expect(bench.calls).toHaveLength(1);
    expect(bench.waits).toEqual([]);
  });

  it('defers its request when its allowance is used up (R50)', async () => {
    expect(await bench.serve(bench.depsWith([busy()]), { callAllowance: 2 })).toMatchObject({ outcome: 'deferred' });
    expect(bench.calls).toHaveLength(2);
  });

  it('says nothing when another call of the request has had no answer (G5)', async () => {
    expect(await bench.serve(bench.depsWith([unknown, busy()]))).toBeUndefined();
  });

  it('leaves its circuit closed: the remote service is there (R119)', async () => {
    const breaker = createCircuitBreaker(bench.clock, { failureThreshold: 1, openMs: 60_000 });
    await bench.serve({ ...bench.depsWith([busy()]), breaker });
    expect(breaker.tryPass(false).kind).toBe('pass');
  });

  it('waits before a further call also when it has had no definite answer, if it is asked to', async () => {
    await bench.serve(bench.depsWith([{ kind: 'unknown', cause: 'Http503', retryAfterMs: 900 }, succeeded]));
    expect(bench.waits).toEqual([900]);
  });
});
