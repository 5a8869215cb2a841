import { addMs } from '../contracts/timestamp.js';
import type { Timestamp } from '../contracts/timestamp.js';
import { TransientError } from './errors.js';
import type { Clock } from './ports.js';

/** Waits so many milliseconds; in tests it moves their clock. */
export type Wait = (ms: number) => Promise<unknown>;

/**
 * Does the work, and repeats it after a transient fault, once after each of the waits.
 *
 * @throws TransientError of the last try
 */
export async function retryTransient<Result>(
  work: () => Promise<Result>,
  waitsMs: Iterable<number>,
  wait: Wait,
): Promise<Result> {
  for (const waitMs of waitsMs) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof TransientError)) throw error;
      await wait(waitMs);
    }
  }
  return work();
}

const firstWaitMs = 200;
const maxWaitMs = 5_000;

/** Growing waits, as long as the next one ends before that time. */
export function* waitsUntil(end: Timestamp, clock: Clock): Generator<number> {
  for (let waitMs = firstWaitMs; addMs(clock.now(), waitMs) < end; waitMs = Math.min(2 * waitMs, maxWaitMs)) {
    yield waitMs;
  }
}
