/**
 * Submit's view of admission: the control document, read at most once in a while, and how many eager starts it still
 * allows until the next read.
 */
import { msBetween } from '../contracts/timestamp.js';
import type { Timestamp } from '../contracts/timestamp.js';
import type { Admission, IntakeMode } from '../state/admission.js';
import type { AdmissionStore, Clock } from '../state/ports.js';

/** The door of submit. */
export interface AdmissionGate {
  /** Whether new orders are taken now. Throws TransientError when the store can't answer. */
  mode(): Promise<IntakeMode>;
  /** Takes one eager start from what the in-flight limit leaves. */
  mayStartNow(): boolean;
}

/** Creates the gate of this process. Without a control document yet, intake is open. */
export function createAdmissionGate(
  { store, clock }: { readonly store: AdmissionStore; readonly clock: Clock },
  { maxInFlight, refreshMs }: { readonly maxInFlight: number; readonly refreshMs: number },
): AdmissionGate {
  let admission: Admission | undefined;
  let readAt: Timestamp | undefined;
  let startsLeft = maxInFlight;
  let reading: Promise<void> | undefined;

  const read = async (): Promise<void> => {
    const now = clock.now();
    const latest = await store.readAdmission();
    readAt = now;
    if (latest?.at === admission?.at && admission !== undefined) return;
    admission = latest;
    startsLeft = maxInFlight - (latest === undefined ? 0 : latest.pending + latest.inFlight);
  };

  /** Messages that come at the same time wait for one read: none of them passes on what is not known yet. */
  const refresh = async (): Promise<void> => {
    if (readAt !== undefined && msBetween(readAt, clock.now()) < refreshMs) return;
    reading ??= read().finally(() => {
      reading = undefined;
    });
    await reading;
  };

  return {
    mode: async () => {
      await refresh();
      return admission?.mode ?? 'open';
    },
    mayStartNow: () => {
      const isOpen = (admission?.mode ?? 'open') === 'open';
      if (!isOpen || startsLeft <= 0) return false;
      startsLeft -= 1;
      return true;
    },
  };
}
