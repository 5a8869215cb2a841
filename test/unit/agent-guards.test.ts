import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AgentDeps } from '../../functions/agents/agent.js';
import { createCircuitBreaker } from '../../functions/agents/circuit-breaker.js';
import type { CircuitBreaker } from '../../functions/agents/circuit-breaker.js';
import { agentLimits } from '../../functions/agents/remote-guards.js';
import { addMs } from '../../functions/contracts/timestamp.js';
import { createAgentBench, paymentRequest, remoteOutcomes } from '../support/agent-bench.js';
import type { AgentBench } from '../support/agent-bench.js';
import { startOfTime } from '../support/manual-clock.js';

const { unknown, succeeded, refused } = remoteOutcomes;

let bench: AgentBench;
beforeEach(() => {
  bench = createAgentBench();
});
afterEach(() => {
  vi.restoreAllMocks();
});

describe('an agent whose circuit is open', () => {
  const breakerOf = (openMs: number): CircuitBreaker =>
    createCircuitBreaker(bench.clock, { failureThreshold: 1, openMs });

  async function open(): Promise<AgentDeps> {
    const breaker = breakerOf(1_000);
    await bench.serve({ ...bench.depsWith([unknown]), breaker }, { callAllowance: 1 });
    return { ...bench.depsWith([succeeded]), breaker };
  }

  it('defers a request for which nothing was called (G5, T67)', async () => {
    const deps = await open();
    expect(await bench.serve(deps)).toMatchObject({ outcome: 'deferred', retryAfterMs: 1_000 });
    expect(bench.calls).toHaveLength(1);
  });

  it('defers a request that was delivered before, and says that the earlier delivery may have called (G6, U1)', async () => {
    const deps = await open();
    expect((await bench.serve(deps))?.uncertain).toBeUndefined();
    expect(await bench.serve(deps, {}, true)).toMatchObject({ outcome: 'deferred', uncertain: true });
  });

  it('tries with a step that has not failed before (CB3)', async () => {
    const deps = await open();
    bench.clock.advance(1_000);
    expect(await bench.serve(deps, { failures: 1 })).toMatchObject({ outcome: 'deferred' });
    expect(await bench.serve(deps, { failures: 0 })).toMatchObject({ outcome: 'succeeded' });
  });

  it('is not what a definite no leads to: the remote service is well (R119)', async () => {
    const breaker = breakerOf(60_000);
    for (let count = 0; count < 3; count += 1) await bench.serve({ ...bench.depsWith([refused]), breaker });
    expect(breaker.tryPass(false).kind).toBe('pass');
  });

  it('says nothing when this very request has called (G5)', async () => {
    expect(await bench.serve({ ...bench.depsWith([unknown]), breaker: breakerOf(60_000) })).toBeUndefined();
    expect(bench.calls).toHaveLength(1);
  });

  it('is tried again after a remote service whose client has thrown', async () => {
    const breaker = breakerOf(1_000);
    const remote = { call: () => Promise.reject(new Error('a fault of the client')) };
    for (let tries = 0; tries < 3; tries += 1) {
      await expect(bench.serve({ ...bench.depsWith([]), breaker, remote })).rejects.toThrow('a fault of the client');
      bench.clock.advance(1_000);
    }
    bench.clock.set(startOfTime);
  });
});

describe('an agent whose remote service hangs for some orders', () => {
  /** A remote service that never answers while it is told to hang. */
  function hangingDeps(): { readonly deps: AgentDeps; readonly answer: () => void } {
    let isHanging = true;
    const deps = bench.depsWith([succeeded]);
    const call: AgentDeps['remote']['call'] = (remoteCall, signal) =>
      isHanging ? new Promise(() => undefined) : deps.remote.call(remoteCall, signal);
    return {
      deps: { ...deps, remote: { call } },
      answer: () => {
        isHanging = false;
      },
    };
  }

  async function hang(deps: AgentDeps, requests: number, failures = 0): Promise<void> {
    for (let count = 0; count < requests; count += 1) void bench.serve(deps, { failures });
    await new Promise((resolve) => setImmediate(resolve));
  }

  it('serves another order without a wait as long as one place is free (BH1)', async () => {
    const { deps, answer } = hangingDeps();
    await hang(deps, agentLimits.queue.calls - 1);
    answer();
    expect(await bench.serve(deps)).toMatchObject({ outcome: 'succeeded' });
    expect(bench.waits).toEqual([]);
  });

  it('defers another order at once when every place hangs: nothing was done (BH2, G5)', async () => {
    const { deps, answer } = hangingDeps();
    await hang(deps, agentLimits.queue.calls);
    answer();
    bench.clock.advance(1_000);
    expect(await bench.serve(deps)).toMatchObject({ outcome: 'deferred', retryAfterMs: 1_000 });
    expect(bench.waits).toEqual([]);
    expect(bench.calls).toEqual([]);
  });

  it('keeps most places for steps that have not failed before (BH3)', async () => {
    const { deps, answer } = hangingDeps();
    await hang(deps, 100, 1);
    answer();
    expect(await bench.serve(deps, { failures: 1 })).toMatchObject({ outcome: 'deferred' });
    expect(await bench.serve(deps, { failures: 0 })).toMatchObject({ outcome: 'succeeded' });
  });

  it('says nothing of a request whose first call had no answer when there is no place for the second (G5)', async () => {
    const { deps } = hangingDeps();
    await hang(deps, agentLimits.queue.callsAfterFailure, 1);
    expect(await bench.serve({ ...deps, remote: bench.depsWith([unknown, succeeded]).remote })).toBeUndefined();
    expect(bench.calls).toHaveLength(1);
  });

  it('defers what reaches it too late for a call (G5)', async () => {
    const completeBy = addMs(startOfTime, 150);
    expect(await bench.serve(bench.depsWith([succeeded]), { completeBy })).toMatchObject({ outcome: 'deferred' });
    expect(bench.calls).toEqual([]);
  });
});

describe('the limit of a call', () => {
  let limits: number[];
  beforeEach(() => {
    limits = [];
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      limits.push(ms);
      return new AbortController().signal;
    });
  });

  it('is its share of the time that is left, so that a call that hangs leaves time for the next (G7)', async () => {
    const deps = bench.depsWith([unknown], () => {
      bench.clock.advance(100_000);
    });
    await bench.serve(deps, { completeBy: addMs(startOfTime, 300_000), callAllowance: 3 });
    expect(limits).toEqual([100_000, 100_000, 100_000]);
  });

  it('is what an earlier call has left, when that had an answer soon', async () => {
    await bench.serve(bench.depsWith([unknown]), { completeBy: addMs(startOfTime, 4_000), callAllowance: 2 });
    expect(limits).toEqual([2_000, 4_000]);
  });

  it.each([
    [1_500, [1_000, 1_500]],
    [600, [600, 600]],
  ])('is no shorter than a second while %d ms are left', async (leftMs, expected) => {
    await bench.serve(bench.depsWith([unknown]), { completeBy: addMs(startOfTime, leftMs), callAllowance: 2 });
    expect(limits).toEqual(expected);
  });

  it('is the whole time when the request allows one call', async () => {
    await bench.serve(bench.depsWith([unknown]), { callAllowance: 1 });
    expect(limits).toEqual([4_000]);
    expect(paymentRequest.completeBy).toBe(addMs(startOfTime, 4_000));
  });
});
