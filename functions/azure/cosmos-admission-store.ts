import type { Database } from '@azure/cosmos';
import type { ZodType } from 'zod';
import { admissionSchema, intakePauseSchema } from '../state/admission.js';
import type { AdmissionStore } from '../state/ports.js';
import { cosmosError } from './errors.js';

/** The control documents over the Cosmos DB container `control`: one the starter's, one the operator's. */
export function createCosmosAdmissionStore(database: Database): AdmissionStore {
  const container = database.container('control');

  const read = async <T>(id: string, schema: ZodType<T>): Promise<T | undefined> => {
    try {
      const response = await container.item(id, id).read();
      const parsed = schema.safeParse(response.resource);
      return parsed.success ? parsed.data : undefined;
    } catch (error) {
      throw cosmosError(error);
    }
  };

  const write = async (id: string, document: object): Promise<void> => {
    try {
      await container.items.upsert({ ...document, id });
    } catch (error) {
      throw cosmosError(error);
    }
  };

  return {
    readAdmission: () => read('admission', admissionSchema),
    writeAdmission: (admission) => write('admission', admission),
    readPause: () => read('intake-pause', intakePauseSchema),
    writePause: (pause) => write('intake-pause', pause),
  };
}
