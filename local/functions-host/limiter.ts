/** Runs jobs with a limit on how many run at once; the others wait in their order. */

/** A queue of jobs. */
export interface Limiter {
  run(job: () => Promise<void>): void;
  /** Drops what waits, and resolves when what runs is done. */
  close(): Promise<void>;
}

/** Creates a queue that starts what it holds once per turn of the event loop. */
export function createLimiter(limit: number): Limiter {
  let waiting: (() => Promise<void>)[] = [];
  let running = 0;
  let isScheduled = false;
  let whenIdle: (() => void) | undefined;

  function schedule(): void {
    if (isScheduled || waiting.length === 0) return;
    isScheduled = true;
    setImmediate(start);
  }

  function start(): void {
    isScheduled = false;
    for (const job of waiting.splice(0, limit - running)) {
      running += 1;
      void job().finally(finished);
    }
  }

  function finished(): void {
    running -= 1;
    schedule();
    if (running === 0) whenIdle?.();
  }

  return {
    run(job) {
      waiting.push(job);
      schedule();
    },
    close() {
      waiting = [];
      return new Promise((resolve) => {
        whenIdle = resolve;
        if (running === 0) resolve();
      });
    },
  };
}
