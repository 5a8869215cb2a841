import { setTimeout as delay } from 'node:timers/promises';

/** The SDK waits a minute for the answer to a close when the connection is gone; nothing is lost by not waiting. */
const limitMs = 2_000;

/** Waits for the work, but not for long. */
export async function inTime(work: Promise<unknown>): Promise<void> {
  await Promise.race([work, delay(limitMs, undefined, { ref: false })]);
}
