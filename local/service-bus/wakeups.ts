/** Wakes the queues for what they do by themselves: ending locks, activating, expiring. One timer serves them all. */
import type { Clock } from './clock.js';

export interface Wakeups {
  /** Makes sure that `act` runs at `due` or before. */
  consider(due: number): void;
  stop(): void;
}

/** `act` does what is due and returns when it has something to do again. */
export function createWakeups(clock: Clock, act: () => number): Wakeups {
  let next = Infinity;
  let cancel: (() => void) | undefined;
  let isStopped = false;
  const consider = (due: number): void => {
    if (due >= next || isStopped) return;
    cancel?.();
    next = due;
    cancel = clock.wake(due, () => {
      next = Infinity;
      cancel = undefined;
      consider(act());
    });
  };
  return {
    consider,
    stop() {
      isStopped = true;
      cancel?.();
    },
  };
}
