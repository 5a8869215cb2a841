/** What happens to an attempt of order A-1 between the turns of its orchestration. */
import { addMs } from '../../functions/contracts/timestamp.js';
import { orderOrchestrator } from '../../functions/scheduler/orchestrator.js';
import { startOfTime } from './manual-clock.js';
import { startRun } from './orchestration-run.js';
import type { Happening, OrchestrationRun, ReplayResult } from './orchestration-run.js';

export const subject = { instanceId: 'A-1.1', input: { orderId: 'A-1', attempt: 1 } };
export const later = (ms: number): string => addMs(startOfTime, ms);
export const completeBy = later(60_000);

export type Transport = 'queue' | 'activity';

export function dispatched(
  stepId: string,
  transport: Transport = 'queue',
  deadline = completeBy,
  allottedMs?: number,
): Happening {
  const result = {
    kind: 'dispatched',
    stepId,
    requestId: `A-1.1.${stepId}`,
    completeBy: deadline,
    agent: stepId,
    transport,
    allottedMs,
  };
  return { kind: 'completed', activity: 'advance', result };
}

export const ended = (processState: string): Happening => ({
  kind: 'completed',
  activity: 'advance',
  result: { kind: 'ended', processState },
});
export const superseded: Happening = { kind: 'completed', activity: 'advance', result: { kind: 'superseded' } };
export const tooLate: Happening = { kind: 'completed', activity: 'advance', result: { kind: 'tooLate' } };
export const advanceFailed: Happening = { kind: 'failed', activity: 'advance', reason: 'TransientError: no answer' };
export const timerFired: Happening = { kind: 'timerFired' };

/** The token that the orchestrator has given to its last advance. */
export function tokenOf(...results: readonly ReplayResult[]): string {
  const advances = results.flatMap(({ actions }) => actions).filter(({ name }) => name === 'advance');
  return (advances.at(-1)?.input as { replyToken: string }).replyToken;
}

/** An instance whose step has been dispatched, and the last result of the engine. */
export async function waitingFor(
  stepId: string,
  transport: Transport = 'queue',
): Promise<{ run: OrchestrationRun; token: string }> {
  const run = startRun(orderOrchestrator, subject, startOfTime);
  await run.turn(startOfTime);
  const result = await run.turn(later(100), dispatched(stepId, transport));
  return { run, token: tokenOf(result) };
}

export function replyFor(
  stepId: string,
  token: string,
  overrides: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    schemaVersion: 1,
    requestId: `A-1.1.${stepId}`,
    replyToken: token,
    orderId: 'A-1',
    attempt: 1,
    stepId,
    outcome: 'succeeded',
    result: { reference: 'r-1' },
    ...overrides,
  };
}

export const raised = (stepId: string, token: string, overrides: Record<string, unknown> = {}): Happening => ({
  kind: 'raised',
  name: `reply.${stepId}`,
  payload: replyFor(stepId, token, overrides),
});
