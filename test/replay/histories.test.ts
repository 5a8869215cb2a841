/**
 * Histories of attempts as earlier builds have left them: today's orchestrator must replay each to the same actions, or
 * running orders break with the next deployment (C58, T80, R53). A file here is never changed; a new way is a new file.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { orderOrchestrator } from '../../functions/scheduler/orchestrator.js';
import { replay } from '../support/orchestration-run.js';
import type { ActionSummary, HistoryEvent, ReplayResult } from '../support/orchestration-run.js';

interface RecordedAttempt {
  readonly story: string;
  readonly instanceId: string;
  readonly input: unknown;
  readonly history: readonly HistoryEvent[];
  readonly expected: ReplayResult;
}

const folder = new URL('histories/', import.meta.url);
const orchestratorCompleted = 13;

const recorded = readdirSync(folder).map((file): [string, RecordedAttempt] => [
  file,
  JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as RecordedAttempt,
]);

/** The history as it stood after each turn. */
function turnsOf(history: readonly HistoryEvent[]): readonly (readonly HistoryEvent[])[] {
  const ends = history.flatMap(({ EventType }, index) => (EventType === orchestratorCompleted ? [index + 1] : []));
  return ends.map((end) => history.slice(0, end));
}

const withoutCancellation = ({ kind, name, input, fireAt, children }: ActionSummary): object => ({
  kind,
  name,
  input,
  fireAt,
  children: children?.map(withoutCancellation),
});

describe.each(recorded)('%s', (_file, attempt) => {
  it(`replays to the same actions and the same end: ${attempt.story}`, async () => {
    const result = await replay(orderOrchestrator, attempt, attempt.history);
    expect(JSON.parse(JSON.stringify(result))).toEqual(attempt.expected);
  });

  it('asks for the same from turn to turn, only ever more', async () => {
    const all = attempt.expected.actions.map(withoutCancellation);
    for (const history of turnsOf(attempt.history)) {
      const { actions, error } = await replay(orderOrchestrator, attempt, history);
      expect(error).toBeUndefined();
      expect(actions.map(withoutCancellation)).toEqual(all.slice(0, actions.length));
    }
  });
});

it('there is a history for each way an attempt can end', () => {
  const ends = recorded.map(([, { expected }]) => JSON.stringify(expected.output));
  for (const end of ['"timedOut"', '"superseded"', '"Processed"', '"Compensating"', '"Error"']) {
    expect(
      ends.some((output) => output.includes(end)),
      end,
    ).toBe(true);
  }
});
