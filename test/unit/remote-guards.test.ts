import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { agentLimits, createRemoteGuards } from '../../functions/agents/remote-guards.js';
import { workflows } from '../../functions/state/order-workflow.js';
import { createManualClock } from '../support/manual-clock.js';

interface HostJson {
  readonly extensions: {
    readonly durableTask: {
      readonly maxConcurrentActivityFunctions: number;
      readonly maxConcurrentOrchestratorFunctions: number;
    };
    readonly serviceBus: { readonly maxConcurrentCalls: number; readonly prefetchCount: number };
  };
}

/** Activity slots that calls of remote services never take: advance needs one for each step of each order. */
const slotsForAdvance = 32;

describe.each(['host.json', 'host.dts.json'])('the limits of agents fit %s:', (file) => {
  const { durableTask, serviceBus } = (JSON.parse(readFileSync(file, 'utf8')) as HostJson).extensions;

  it('agents in the app leave activity slots to the scheduler, also when all their calls hang', () => {
    const inApp = new Set(
      workflows.flatMap(({ steps }) => steps.flatMap((step) => (step.transport === 'activity' ? [step.agent] : []))),
    );
    const { calls, waiting } = agentLimits.activity;
    const slots = durableTask.maxConcurrentActivityFunctions - inApp.size * (calls + waiting);
    expect(slots).toBeGreaterThanOrEqual(slotsForAdvance);
    expect(durableTask.maxConcurrentOrchestratorFunctions).toBeGreaterThan(0);
  });

  it('agents behind queues have slots left to answer that there is no place, and read nothing ahead', () => {
    const { calls, waiting } = agentLimits.queue;
    expect(calls).toBeLessThan(serviceBus.maxConcurrentCalls);
    expect(calls + waiting).toBe(serviceBus.maxConcurrentCalls);
    expect(serviceBus.prefetchCount).toBe(0);
  });
});

describe('the guards of a remote service', () => {
  it.each([
    [300_000, 15_000],
    [4_000, 1_000],
  ])('with a deadline of %d ms take a call to hang after %d ms', (stepDeadlineMs, hangAfterMs) => {
    const policy = { failureThreshold: 5, openMs: 1_000, stepDeadlineMs };
    const deps = { clock: createManualClock(), wait: () => Promise.resolve() };
    expect(createRemoteGuards('queue', policy, deps).bulkhead.hangAfterMs).toBe(hangAfterMs);
  });
});
