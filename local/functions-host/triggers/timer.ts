/**
 * Timer triggers.
 *
 * Invariants
 * T1 A timer never overlaps itself: the next run is planned when a run has ended. If the run lasted beyond the next
 *    occurrence, one run follows at once and the other missed occurrences are dropped.
 * T2 With a monitor, the last run is stored; when the host was down over an occurrence, one run with isPastDue follows at
 *    start. Schedules that come more often than once a minute have no monitor, as in Azure.
 */
import type { Console } from '../console.js';
import type { TypedData } from '../core-api.js';
import type { Invoke } from '../invocation.js';
import { nextOccurrence, type Schedule } from '../ncrontab.js';
import type { FunctionMetadata } from '../core-api.js';
import type { Timers } from '../timers.js';
import type { TimerStatus } from '../durable/records.js';

/** Where the last runs are stored. */
export interface TimerStatusStore {
  timerStatus(name: string): TimerStatus | undefined;
  saveTimerStatus(name: string, status: TimerStatus): Promise<void>;
}

/** What a timer trigger needs. */
export interface TimerTriggerOptions {
  readonly fn: FunctionMetadata;
  readonly bindingName: string;
  /** Inputs beside the timer. */
  readonly extraInputs: readonly { readonly name: string; readonly data: TypedData }[];
  readonly schedule: Schedule;
  readonly runOnStartup: boolean;
  /** As the app wrote it; absent: on. */
  readonly useMonitor: boolean;
  readonly invoke: Invoke;
  readonly timers: Timers;
  readonly status: TimerStatusStore;
  readonly console: Console;
}

/** A timer that ticks. */
export interface TimerTrigger {
  /** Runs the function now, beside its schedule. */
  runNow(): Promise<void>;
  /** Plans nothing more and waits for the run that is going on. */
  close(): Promise<void>;
}

const minuteMs = 60_000;
const never = '0001-01-01T00:00:00+00:00';

/** Starts the timer. */
export function startTimerTrigger(options: TimerTriggerOptions): TimerTrigger {
  const { schedule } = options;
  const { name } = options.fn;
  const hasMonitor = options.useMonitor && !isFasterThanAMinute(schedule);
  let status = hasMonitor ? options.status.timerStatus(name) : undefined;
  let isClosed = false;
  let running: Promise<void> = Promise.resolve();

  async function run(isPastDue: boolean): Promise<void> {
    const startedAt = new Date();
    const next = nextOccurrence(schedule, startedAt);
    await invokeTimer(options, timerInput(hasMonitor ? (status ?? firstStatus(next)) : null, isPastDue));
    if (hasMonitor) {
      const started = startedAt.toISOString();
      status = { last: started, next: next.toISOString(), lastUpdated: started };
      await options.status.saveTimerStatus(name, status);
    }
    plan(next); // T1
  }

  function plan(at: Date, isPastDue = false): void {
    if (isClosed) return;
    options.timers.set(`timer/${name}`, at.getTime(), () => {
      running = run(isPastDue).catch((error: unknown) => {
        options.console.error(`Timer '${name}' stopped: ${String(error)}`);
      });
    });
  }

  const startedAt = new Date();
  const wasMissed = status !== undefined && Date.parse(status.next) < startedAt.getTime(); // T2
  if (wasMissed || options.runOnStartup) plan(startedAt, wasMissed);
  else plan(nextOccurrence(schedule, startedAt));
  return {
    runNow: () => invokeTimer(options, timerInput(hasMonitor ? (status ?? null) : null, false)),
    close: async () => {
      isClosed = true;
      options.timers.clear(`timer/${name}`);
      await running;
    },
  };
}

/** A failed run is reported by the console and does not stop the schedule. */
async function invokeTimer(timer: TimerTriggerOptions, json: string): Promise<void> {
  const { fn, bindingName, extraInputs, invoke } = timer;
  await invoke({
    fn,
    inputs: [{ name: bindingName, data: { json } }, ...extraInputs],
    reason: `Timer fired at ${new Date().toISOString()}`,
  }).catch(() => undefined);
}

function timerInput(status: TimerStatus | null, isPastDue: boolean): string {
  const scheduleStatus =
    status === null ? null : { Last: status.last, Next: status.next, LastUpdated: status.lastUpdated };
  return JSON.stringify({
    Schedule: { AdjustForDST: true },
    ScheduleStatus: scheduleStatus,
    IsPastDue: isPastDue,
  });
}

function firstStatus(next: Date): TimerStatus {
  return { last: never, next: next.toISOString(), lastUpdated: never };
}

function isFasterThanAMinute(schedule: Schedule): boolean {
  const first = nextOccurrence(schedule, new Date());
  return nextOccurrence(schedule, first).getTime() - first.getTime() < minuteMs;
}
