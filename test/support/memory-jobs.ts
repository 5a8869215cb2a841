import type { JobMemory } from '../../functions/state/ports.js';

/** A job memory that several processes can share; `stored` shows what it holds. */
export interface MemoryJobs extends JobMemory {
  readonly stored: ReadonlyMap<string, unknown>;
  /** How often something was written. */
  readonly writes: number;
}

/** Creates a job memory that holds nothing. */
export function createMemoryJobs(): MemoryJobs {
  const stored = new Map<string, unknown>();
  let writes = 0;
  return {
    stored,
    get writes() {
      return writes;
    },
    read: (job, form) => {
      const parsed = form.safeParse(stored.get(job));
      return Promise.resolve(parsed.success ? parsed.data : undefined);
    },
    write: (job, memory) => {
      writes += 1;
      stored.set(job, JSON.parse(JSON.stringify(memory)));
      return Promise.resolve();
    },
  };
}
