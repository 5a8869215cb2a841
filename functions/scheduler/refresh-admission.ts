/** The starter counts what waits and what runs, and says how much new work submit may take (R51). */
import { nextIntakeMode } from '../state/admission.js';
import type { Admission, AdmissionLimits, Load } from '../state/admission.js';
import type { AdmissionStore, Clock, StateStore, Telemetry } from '../state/ports.js';

/** What refreshing needs. */
export interface AdmissionDeps {
  readonly store: StateStore;
  readonly admission: AdmissionStore;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly limits: AdmissionLimits;
}

/** Counts, decides the mode, and writes the control document; its time tells submit that the counts are new. */
export async function refreshAdmission(deps: AdmissionDeps): Promise<Admission> {
  const previous = (await deps.admission.readAdmission()) ?? { mode: 'open' };
  const load = await measureLoad(deps);
  const { pending, inFlight, notBegun } = load;
  const mode = nextIntakeMode(previous.mode, load, deps.limits);
  const next = { mode, pending, inFlight, notBegun, at: deps.clock.now() };
  await deps.admission.writeAdmission(next);
  if (mode !== previous.mode) deps.telemetry.event('intake-changed', { mode, pending, inFlight, notBegun });
  return next;
}

async function measureLoad({ store, admission }: AdmissionDeps): Promise<Load> {
  const [pending, processing, compensating, notBegun, pause] = await Promise.all([
    store.count('Pending'),
    store.count('Processing'),
    store.countOwned('Compensating'), // An undo that waits, perhaps for hours, takes nobody's place.
    store.countNotBegun(),
    admission.readPause(),
  ]);
  return { pending, inFlight: processing + compensating, notBegun, isPaused: pause?.isPaused ?? false };
}
