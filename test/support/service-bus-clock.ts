import type { Clock } from '../../local/service-bus/index.js';

/** A clock that stands still until a test moves it. */
export interface ManualClock extends Clock {
  advance(milliseconds: number): void;
}

interface Alarm {
  readonly at: number;
  readonly action: () => void;
}

/** Starts at the present, because clients sign their tokens with the machine's time. */
export function createManualClock(start = Date.now()): ManualClock {
  let now = start;
  const alarms = new Set<Alarm>();
  const ring = (): void => {
    const due = [...alarms].filter(({ at }) => at <= now).sort((one, other) => one.at - other.at);
    for (const alarm of due) {
      if (alarms.delete(alarm)) alarm.action();
    }
    if (due.length > 0) ring();
  };
  return {
    now: () => now,
    wake(at, action) {
      const alarm = { at, action };
      alarms.add(alarm);
      queueMicrotask(ring); // One that is due already rings without the clock moving.
      return () => alarms.delete(alarm);
    },
    advance(milliseconds) {
      now += milliseconds;
      ring();
    },
  };
}
