import * as df from 'durable-functions';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { drive, type DrivenOrchestration } from '../support/functions-host-replay.js';
import { eventTypes, type HistoryEvent } from '../../local/functions-host/durable/history.js';

/** A part of a random orchestrator; its value says which part it was, so that a mixed-up result shows. */
type Part =
  | { readonly kind: 'activity'; readonly label: string }
  | { readonly kind: 'retry'; readonly label: string; readonly failures: number }
  | { readonly kind: 'event'; readonly label: string }
  | { readonly kind: 'timer'; readonly seconds: number }
  | { readonly kind: 'all' | 'any'; readonly parts: readonly Part[] };

type Steps = Generator<df.Task, unknown>;
type Context = df.OrchestrationContext['df'];

const attempts = 3;
let labels = 0;
const label = fc.constant(null).map(() => `part-${(labels += 1)}`);
const leaf: fc.Arbitrary<Part> = fc.oneof(
  label.map((text) => ({ kind: 'activity' as const, label: text })),
  fc.tuple(label, fc.nat(attempts - 1)).map(([text, failures]) => ({ kind: 'retry' as const, label: text, failures })),
  label.map((text) => ({ kind: 'event' as const, label: text })),
  fc.integer({ min: 1, max: 900_000 }).map((seconds) => ({ kind: 'timer' as const, seconds })),
);
const { part } = fc.letrec<{ part: Part }>((tie) => ({
  part: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    leaf,
    fc.record({
      kind: fc.constantFrom('all' as const, 'any' as const),
      parts: fc.array(tie('part'), { minLength: 1, maxLength: 4 }),
    }),
  ),
}));

function taskOf(context: Context, given: Part): df.Task {
  switch (given.kind) {
    case 'activity':
      return context.callActivity(given.label, {});
    case 'retry':
      return context.callActivityWithRetry(given.label, new df.RetryOptions(1000, attempts), {});
    case 'event':
      return context.waitForExternalEvent(given.label);
    case 'timer':
      return context.createTimer(new Date(context.currentUtcDateTime.getTime() + given.seconds * 1000));
    case 'all':
      return context.Task.all(given.parts.map((inner) => taskOf(context, inner)));
    case 'any':
      return context.Task.any(given.parts.map((inner) => taskOf(context, inner)));
  }
}

function isRight(given: Part, value: unknown): boolean {
  switch (given.kind) {
    case 'activity':
    case 'retry':
    case 'event':
      return value === given.label;
    case 'timer':
      return typeof value !== 'string';
    case 'all':
      return Array.isArray(value) && given.parts.every((inner, index) => isRight(inner, value[index]));
    case 'any':
      return given.parts.some((inner) => isRight(inner, (value as df.Task | undefined)?.result));
  }
}

function eventsOf(given: Part): string[] {
  if (given.kind === 'event') return [given.label];
  return given.kind === 'all' || given.kind === 'any' ? given.parts.flatMap(eventsOf) : [];
}

function failuresOf(given: Part): [string, number][] {
  if (given.kind === 'retry') return [[given.label, given.failures]];
  return given.kind === 'all' || given.kind === 'any' ? given.parts.flatMap(failuresOf) : [];
}

/** Ends an open task as the random orchestrator's world would. */
function end(driven: DrivenOrchestration, task: HistoryEvent, failures: Map<string, number>): void {
  const name = task.Name ?? '';
  const left = failures.get(name) ?? 0;
  if (task.EventType === eventTypes.timerCreated) driven.fire(task);
  else if (left > 0) {
    failures.set(name, left - 1);
    driven.fail(task, `${name} fails`);
  } else driven.complete(task, name);
}

interface World {
  readonly events: string[];
  readonly failures: Map<string, number>;
  readonly choose: (count: number) => number;
}

function somethingHappens(driven: DrivenOrchestration, world: World): void {
  const open = driven.open();
  const choice = world.choose(Math.max(open.length + world.events.length, 1));
  const task = open[choice];
  if (task !== undefined) end(driven, task, world.failures);
  else for (const name of world.events.splice(choice - open.length, 1)) driven.raise(name, name);
}

async function runToTheEnd(driven: DrivenOrchestration, world: World): Promise<void> {
  while (driven.instance.runtimeStatus === 'Running' && driven.open().length + world.events.length > 0) {
    for (let more = world.choose(3); more >= 0; more -= 1) somethingHappens(driven, world);
    await driven.turn();
  }
}

it('results reach the calls they belong to, whatever the orchestrator and the order in which they come', async () => {
  const programs = fc.array(part, { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(programs, fc.infiniteStream(fc.nat(1000)), async (parts, choices) => {
      const results: unknown[] = [];
      const driven = await drive(function* ({ df: context }): Steps {
        results.length = 0;
        for (const given of parts) results.push(yield taskOf(context, given));
        return 'done';
      });
      await runToTheEnd(driven, {
        events: parts.flatMap(eventsOf),
        failures: new Map(parts.flatMap(failuresOf)),
        choose: (count) => (choices.next().value as number) % count,
      });
      expect(driven.instance.runtimeStatus).toBe('Completed');
      for (const [index, given] of parts.entries()) expect(isRight(given, results[index]), given.kind).toBe(true);
    }),
    { seed: 20_261_129, numRuns: 300 },
  );
});
