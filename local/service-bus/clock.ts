/** The broker's only source of time, so that a test can move it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `action` once when `now()` has reached `at`; the returned function calls it off. */
  wake(at: number, action: () => void): () => void;
}

/** Node refuses longer timers; waking early is harmless because the caller looks at the time again. */
const longestTimerMs = 2_147_483_647;

/** The machine's clock. Its timers do not keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  wake(at, action) {
    const timer = setTimeout(action, Math.min(Math.max(at - Date.now(), 0), longestTimerMs));
    timer.unref();
    return () => {
      clearTimeout(timer);
    };
  },
};
