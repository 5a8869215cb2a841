import type { Database } from '@azure/cosmos';
import type { ZodType } from 'zod';
import { admissionSchema, intakePauseSchema } from '../state/admission.js';
import { TransientError } from '../state/errors.js';
import type { AdmissionStore } from '../state/ports.js';
import { writeIfUnchanged } from './conditional-write.js';
import { cosmosError } from './errors.js';

const pauseId = 'intake-pause';

/** More operators than this at the same moment: let the last ones ask again. */
const maxRounds = 8;

/** The control documents over the Cosmos DB container `control`: one the starter's, one the operator's. */
export function createCosmosAdmissionStore(database: Database): AdmissionStore {
  const container = database.container('control');

  const readVersion = async <T>(id: string, schema: ZodType<T>): Promise<{ content?: T; etag?: string }> => {
    try {
      const { resource } = await container.item(id, id).read<{ readonly id: string }>();
      if (resource === undefined) return {};
      const parsed = schema.safeParse(resource);
      return { etag: resource._etag, ...(parsed.success ? { content: parsed.data } : {}) };
    } catch (error) {
      throw cosmosError(error);
    }
  };

  return {
    readAdmission: async () => (await readVersion('admission', admissionSchema)).content,
    writeAdmission: async (admission) => {
      try {
        await container.items.upsert({ ...admission, id: 'admission' });
      } catch (error) {
        throw cosmosError(error);
      }
    },
    readPause: async () => (await readVersion(pauseId, intakePauseSchema)).content,
    changePause: async (change) => {
      for (let round = 0; round < maxRounds; round += 1) {
        const { content, etag } = await readVersion(pauseId, intakePauseSchema);
        const pause = change(content);
        const expected = { partitionKey: pauseId, etag };
        if (await writeIfUnchanged(container, { ...pause, id: pauseId }, expected)) return pause;
      }
      throw new TransientError('state store: the operators’ word on intake keeps changing');
    },
  };
}
