import { describe, expect, it, onTestFinished } from 'vitest';
import { createCosmosAdmissionStore } from '../../functions/azure/cosmos-admission-store.js';
import { setIntake } from '../../functions/operator/operate.js';
import { cosmosTargets, uniqueId } from '../support/contract-targets.js';
import { createManualClock } from '../support/manual-clock.js';

describe.each(cosmosTargets())('the operators’ word on intake, over $name', ({ open }) => {
  it('keeps the decision of each of several operators who act at the same moment', async () => {
    const { service, close } = await open();
    onTestFinished(close);
    const clock = createManualClock();
    const reasons = Array.from({ length: 5 }, uniqueId);
    const decide = (reason: string): Promise<{ status: number }> =>
      setIntake(false, { reason }, { admission: createCosmosAdmissionStore(service), clock });
    const answers = await Promise.all(reasons.map(decide));
    expect(answers.map(({ status }) => status)).toEqual(reasons.map(() => 200));
    const pause = await createCosmosAdmissionStore(service).readPause();
    expect(pause?.history.map(({ reason }) => reason)).toEqual(expect.arrayContaining(reasons));
  });
});
