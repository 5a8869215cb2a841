import { setTimeout as delay } from 'node:timers/promises';

/** Waits until an address answers 200. */
export async function waitUntilHealthy(name: string, address: string, timeoutMs: number): Promise<void> {
  const end = Date.now() + timeoutMs;
  while (!(await answersOk(address))) {
    if (Date.now() > end) {
      throw new Error(
        `${name} does not answer at ${address}. Start it with "docker compose up --detach --wait", and look at "docker compose logs".`,
      );
    }
    await delay(Math.min(500, timeoutMs));
  }
}

async function answersOk(address: string): Promise<boolean> {
  try {
    return (await fetch(address, { signal: AbortSignal.timeout(5_000) })).ok;
  } catch {
    return false;
  }
}
