/** Waiting for something to become true: no fixed sleeps, and a failure that shows what was seen last. */
import { setTimeout as delay } from 'node:timers/promises';

/** How long and how often to look, in milliseconds. */
export interface Patience {
  readonly withinMs?: number;
  readonly everyMs?: number;
}

/** Repeats the assertions until they hold, and answers what they answer; after the time is up their error is thrown. */
export async function eventually<Result>(
  assertions: () => Promise<Result> | Result,
  { withinMs = 20_000, everyMs = 40 }: Patience = {},
): Promise<Result> {
  const giveUpAt = performance.now() + withinMs;
  for (;;) {
    try {
      return await assertions();
    } catch (error) {
      if (performance.now() > giveUpAt) throw error;
    }
    await delay(everyMs);
  }
}
