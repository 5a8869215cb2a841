import type { Database } from '@azure/cosmos';
import { admissionSchema, intakePauseSchema } from '../state/admission.js';
import { TransientError } from '../state/errors.js';
import type { AdmissionStore } from '../state/ports.js';
import { writeIfUnchanged } from './conditional-write.js';
import { overwriteControlDocument, readControlDocument } from './control-documents.js';

const admissionId = 'admission';
const pauseId = 'intake-pause';

/** More operators than this at the same moment: let the last ones ask again. */
const maxRounds = 8;

/** The control documents over the Cosmos DB container `control`: one the starter's, one the operator's. */
export function createCosmosAdmissionStore(database: Database): AdmissionStore {
  const container = database.container('control');

  return {
    readAdmission: async () => (await readControlDocument(container, admissionId, admissionSchema)).content,
    writeAdmission: (admission) => overwriteControlDocument(container, admissionId, admission),
    readPause: async () => (await readControlDocument(container, pauseId, intakePauseSchema)).content,
    changePause: async (change) => {
      for (let round = 0; round < maxRounds; round += 1) {
        const { content, etag } = await readControlDocument(container, pauseId, intakePauseSchema);
        const pause = change(content);
        const expected = { partitionKey: pauseId, etag };
        if (await writeIfUnchanged(container, { ...pause, id: pauseId }, expected)) return pause;
      }
      throw new TransientError('state store: the operators’ word on intake keeps changing');
    },
  };
}
