import { addMs } from '../../functions/contracts/timestamp.js';
import type { Timestamp } from '../../functions/contracts/timestamp.js';
import type { Clock } from '../../functions/state/ports.js';

/** A clock that stands still until a test moves it. */
export interface ManualClock extends Clock {
  advance(ms: number): void;
  set(at: Timestamp): void;
}

/** When the tests' time begins. */
export const startOfTime: Timestamp = '2026-01-05T09:00:00.000Z';

/** Creates a clock that shows {@link startOfTime}. */
export function createManualClock(start: Timestamp = startOfTime): ManualClock {
  let current = start;
  return {
    now: () => current,
    advance: (ms) => {
      current = addMs(current, ms);
    },
    set: (at) => {
      current = at;
    },
  };
}
