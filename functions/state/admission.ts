/**
 * Admission control (R51, T52): how much new work the system takes. Counts are refreshed by the starter and therefore a
 * little old; the limits are soft by what arrives between two refreshes.
 *
 * Invariants
 * AD1 Above the high-water mark intake closes, and opens again only at the low-water mark: no flapping.
 * AD2 What was accepted is never affected: only orders that are not stored yet are turned away.
 * AD3 A runtime that does not begin what it was given is given no more (a slow one must not collect a growing backlog).
 */
import { z } from 'zod';
import { timestampSchema } from '../contracts/timestamp.js';

/** *open*: start at once · *throttled*: store, the starter decides when · *closed*: turn away. */
export const intakeModeSchema = z.enum(['open', 'throttled', 'closed']);

export type IntakeMode = z.infer<typeof intakeModeSchema>;

/** The control document, written by the starter and read by submit. */
export const admissionSchema = z.object({
  mode: intakeModeSchema,
  /** Orders waiting for their first or next attempt. */
  pending: z.int().min(0),
  /** Orders with a running attempt, or being undone. */
  inFlight: z.int().min(0),
  /** Of those in flight, attempts that have dispatched nothing yet. */
  notBegun: z.int().min(0).default(0),
  at: timestampSchema,
});

export type Admission = Readonly<z.infer<typeof admissionSchema>>;

/** An operator's word on intake; it stands until taken back. */
const intakeDecisionSchema = z.object({ isPaused: z.boolean(), reason: z.string(), at: timestampSchema });

export const intakePauseSchema = intakeDecisionSchema.extend({
  /** Every decision, this one included; the newest 50. */
  history: z.array(intakeDecisionSchema).default([]),
});

export type IntakePause = Readonly<z.infer<typeof intakePauseSchema>>;

/** Limits of admission, in orders. */
export interface AdmissionLimits {
  readonly highWater: number;
  readonly lowWater: number;
  readonly maxInFlight: number;
}

/** What intake depends on. */
export interface Load {
  readonly pending: number;
  readonly inFlight: number;
  readonly notBegun: number;
  readonly isPaused: boolean;
}

/** The mode that follows from the present load and the mode so far. */
export function nextIntakeMode(previous: IntakeMode, load: Load, limits: AdmissionLimits): IntakeMode {
  if (load.isPaused || load.pending >= limits.highWater) return 'closed';
  if (previous === 'closed' && load.pending > limits.lowWater) return 'closed'; // AD1
  const hasCapacity = load.pending + load.inFlight < limits.maxInFlight && roomToBegin(load, limits) > 0;
  return hasCapacity ? 'open' : 'throttled';
}

/** AD3: at most half of what may be in flight may wait for the runtime to begin. */
const notBegunShare = 0.5;

/** How many more attempts the runtime may be given now. */
export function roomToBegin(
  { notBegun }: Pick<Load, 'notBegun'>,
  { maxInFlight }: Pick<AdmissionLimits, 'maxInFlight'>,
): number {
  return Math.max(0, Math.ceil(maxInFlight * notBegunShare) - notBegun);
}
