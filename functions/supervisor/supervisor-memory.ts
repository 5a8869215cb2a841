import { z } from 'zod';
import { timestampSchema } from '../contracts/timestamp.js';
import type { Timestamp } from '../contracts/timestamp.js';
import type { JobMemory } from '../state/ports.js';

/** What the supervisor remembers from run to run, whichever process runs it. If it is lost, a run starts from the beginning. */
export interface SupervisorMemory {
  /** When all records were last scanned to the end; kept only with a recovery index. */
  scannedAt: Timestamp | null;
  /** Where a scan, by its name, stopped for want of room: the next run goes on there. */
  readonly stoppedAt: Map<string, Timestamp>;
}

const jobName = 'supervisor';

const storedSchema = z.object({
  scannedAt: timestampSchema.nullable(),
  stoppedAt: z.record(z.string(), timestampSchema),
});

/** A memory without anything in it. */
export function emptyMemory(): SupervisorMemory {
  return { scannedAt: null, stoppedAt: new Map() };
}

/** Reads what earlier runs have left. Throws TransientError when the store can't answer. */
export async function recallMemory(jobs: JobMemory): Promise<SupervisorMemory> {
  const stored = await jobs.read(jobName, storedSchema);
  return stored === undefined ? emptyMemory() : { ...stored, stoppedAt: new Map(Object.entries(stored.stoppedAt)) };
}

/** Stores the memory for later runs. Throws TransientError when the store can't answer. */
export async function keepMemory(memory: SupervisorMemory, jobs: JobMemory): Promise<void> {
  await jobs.write(jobName, { ...memory, stoppedAt: Object.fromEntries(memory.stoppedAt) });
}
