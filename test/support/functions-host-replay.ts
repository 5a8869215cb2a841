/** Drives one orchestration by hand: the library's own replay engine and the host's turns, with a clock to move. */
import { createRequire } from 'node:module';
import type { OrchestrationHandler } from 'durable-functions';
import { eventTypes, type HistoryEvent } from '../../local/functions-host/durable/history.js';
import {
  addToInbox,
  applyTurn,
  continueAsNew,
  openInstance,
  type Instance,
} from '../../local/functions-host/durable/instance.js';
import { newInstance } from '../../local/functions-host/durable/messages.js';
import { runTurn } from '../../local/functions-host/durable/turn.js';

type Orchestrator = (trigger: unknown, context: object) => Promise<unknown>;

interface TestingUtils {
  readonly createOrchestrator: (handler: OrchestrationHandler) => Orchestrator;
}

const { createOrchestrator } = createRequire(import.meta.url)(
  'durable-functions/lib/src/util/testingUtils.js',
) as TestingUtils;

const dayMs = 86_400_000;
const longTimers = { maximumMs: 6 * dayMs, intervalMs: 3 * dayMs };

/** An orchestration under a test's control. */
export interface DrivenOrchestration {
  readonly instance: Instance;
  /** Runs a turn over what is in the inbox. */
  turn(): Promise<void>;
  /** What is on its way, in id order. */
  open(): HistoryEvent[];
  complete(task: HistoryEvent, result: unknown): void;
  fail(task: HistoryEvent, message: string): void;
  /** Moves the clock to the timer's time and fires it. */
  fire(timer: HistoryEvent): void;
  raise(name: string, data: unknown): void;
  output(): unknown;
}

/** Starts an orchestration and runs its first turn. */
export async function drive(handler: OrchestrationHandler, input: unknown = {}): Promise<DrivenOrchestration> {
  const run = createOrchestrator(handler);
  const instance = openInstance(newInstance('driven', { name: 'driven', input: JSON.stringify(input) }, null));
  let now = Date.parse(instance.createdTime);
  const event = (type: number): HistoryEvent => ({
    EventType: type,
    EventId: -1,
    Timestamp: new Date(now).toISOString(),
  });

  const driven: DrivenOrchestration = {
    instance,
    async turn() {
      const at = new Date(now).toISOString();
      const batch = [...instance.inbox];
      const outcome = await runTurn({ instance, batch, at, longTimers }, (_instance, data) =>
        run(JSON.parse(data.string ?? ''), {}),
      );
      if (outcome.kind === 'change') applyTurn(instance, outcome.change);
      else continueAsNew(instance, { ...outcome, at, taken: batch.length, executionId: `${instance.executionId}+` });
    },
    open: () => [...instance.open.values()],
    complete(task, result) {
      const completed = { TaskScheduledId: task.EventId, Result: JSON.stringify(result) };
      addToInbox(instance, { ...event(eventTypes.taskCompleted), ...completed });
    },
    fail(task, message) {
      const failure = { TaskScheduledId: task.EventId, Reason: message, Details: '' };
      addToInbox(instance, { ...event(eventTypes.taskFailed), ...failure });
    },
    fire(timer) {
      const fireAt = timer.FireAt ?? '';
      now = Math.max(now, Date.parse(fireAt));
      addToInbox(instance, { ...event(eventTypes.timerFired), TimerId: timer.EventId, FireAt: fireAt });
    },
    raise(name, data) {
      addToInbox(instance, { ...event(eventTypes.eventRaised), Name: name, Input: JSON.stringify(data) });
    },
    output: () => JSON.parse(instance.output ?? 'null') as unknown,
  };
  await driven.turn();
  return driven;
}
