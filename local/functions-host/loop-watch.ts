/** Reports an app that blocks its event loop: none of its functions goes on then, and it cannot say so itself. */
import type { Console } from './console.js';

/** A watch over an event loop. */
export interface LoopWatch {
  close(): void;
}

const blockedMs = 5000;
const checkMs = 500;

/** Starts the watch. `beat` returns a number that changes as long as the loop runs. */
export function watchLoop(beat: () => number, console: Console): LoopWatch {
  let last = beat();
  let since = Date.now();
  let isReported = false;
  const check = setInterval(() => {
    const now = beat();
    if (now !== last) {
      last = now;
      since = Date.now();
      isReported = false;
    } else if (!isReported && Date.now() - since > blockedMs) {
      isReported = true;
      console.error(
        `A function of the app blocks the event loop for more than ${blockedMs} ms: all functions of the app wait for ` +
          'it. Look for a loop without await, or for synchronous I/O.',
      );
    }
  }, checkMs);
  check.unref();
  return {
    close: () => {
      clearInterval(check);
    },
  };
}
