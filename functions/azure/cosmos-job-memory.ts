import type { Database } from '@azure/cosmos';
import type { JobMemory } from '../state/ports.js';
import { overwriteControlDocument, readControlDocument } from './control-documents.js';

/** What recurring jobs remember, one control document `job-<name>` per job. */
export function createCosmosJobMemory(database: Database): JobMemory {
  const container = database.container('control');
  return {
    read: async (job, form) => (await readControlDocument(container, documentId(job), form)).content,
    write: (job, memory) => overwriteControlDocument(container, documentId(job), memory),
  };
}

function documentId(job: string): string {
  return `job-${job}`;
}
