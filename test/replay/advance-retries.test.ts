/** The orchestrator on the real replay engine, while the activity advance fails. */
import { describe, expect, it } from 'vitest';
import { orderOrchestrator } from '../../functions/scheduler/orchestrator.js';
import { advanceFailed, dispatched, later, subject, timerFired } from '../support/attempt-happenings.js';
import { startOfTime } from '../support/manual-clock.js';
import { startRun } from '../support/orchestration-run.js';

describe('an advance that fails', () => {
  it('is repeated after a back-off, with the same request (A3)', async () => {
    const run = startRun(orderOrchestrator, subject, startOfTime);
    await run.turn(startOfTime);
    const failed = await run.turn(later(100), advanceFailed);
    expect(failed.isDone).toBe(false);
    await run.turn(later(1_100), timerFired);
    await run.turn(later(1_200), dispatched('payment'));
    expect(run.openTimers()).toBe(1);
  });

  it('is repeated for as long as a step may take, and never more than 10 s apart', async () => {
    const run = startRun(orderOrchestrator, subject, startOfTime);
    await run.turn(startOfTime);
    const {
      backoffCoefficient,
      firstRetryIntervalInMilliseconds,
      maxNumberOfAttempts,
      maxRetryIntervalInMilliseconds,
    } = run.retryOptionsOf('advance');
    const waits = Array.from({ length: maxNumberOfAttempts - 1 }, (_, retry) =>
      Math.min(firstRetryIntervalInMilliseconds * backoffCoefficient ** retry, maxRetryIntervalInMilliseconds),
    );
    expect(Math.max(...waits)).toBe(10_000);
    expect(waits.reduce((sum, wait) => sum + wait, 0)).toBeGreaterThan(600_000);
  });

  it('too often ends the attempt: the supervisor finds it (T42)', async () => {
    const run = startRun(orderOrchestrator, subject, startOfTime);
    let result = await run.turn(startOfTime);
    for (let tries = 1; tries <= 100 && result.error === undefined; tries += 1) {
      result = await run.turn(later(tries * 10_000), advanceFailed);
      if (result.error === undefined) result = await run.turn(later(tries * 10_000 + 8_000), timerFired);
    }
    expect(result.error).toContain('TransientError');
    expect(run.openTimers()).toBe(0);
  });

  it('with an answer that breaks the contract ends the attempt', async () => {
    const run = startRun(orderOrchestrator, subject, startOfTime);
    await run.turn(startOfTime);
    const last = await run.turn(later(100), { kind: 'completed', activity: 'advance', result: { kind: 'surprise' } });
    expect(last.error).toBeDefined();
  });
});
