/** A closed loop: a fixed number of pieces of work in flight, each replaced by a new one as soon as it is done. */

/** What a run of the loop measured; latencies in milliseconds. */
export interface LoopResult {
  readonly done: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Runs `work` with `inFlight` at a time for at least `seconds`, and waits for the last ones. */
export async function runClosedLoop(
  inFlight: number,
  seconds: number,
  work: (number: number) => Promise<void>,
): Promise<LoopResult> {
  const latencies: number[] = [];
  const startedAt = performance.now();
  const endAt = startedAt + seconds * 1000;
  let next = 0;

  const lane = async (): Promise<void> => {
    while (performance.now() < endAt) {
      const beganAt = performance.now();
      next += 1;
      await work(next);
      latencies.push(performance.now() - beganAt);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));

  latencies.sort((a, b) => a - b);
  return {
    done: latencies.length,
    seconds: (performance.now() - startedAt) / 1000,
    p50Ms: percentile(latencies, 50),
    p99Ms: percentile(latencies, 99),
  };
}

function percentile(sorted: readonly number[], percent: number): number {
  const index = Math.ceil((percent / 100) * sorted.length) - 1;
  return sorted[Math.max(0, index)] ?? Number.NaN;
}
