/**
 * The one way to change a state record: read, decide, write if unchanged, and recognise one's own write (I1, I2).
 *
 * Whoever makes a transition first sends what already waits in the outbox and lets its own write remove it: so only a
 * terminal state costs a write of its own for the outbox.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Decision, RefusalReason, Transition } from '../state/decision.js';
import { TransientError } from '../state/errors.js';
import type { Clock, QueueSender, StateStore, Telemetry, VersionedRecord } from '../state/ports.js';
import { isTerminal } from '../state/state-record.js';
import type { StateRecord } from '../state/state-record.js';
import { afterDelivery, sendOutbox } from './report-status.js';

/** What changing a record needs. */
export interface TransitionDeps {
  readonly store: StateStore;
  readonly sender: QueueSender;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/** How a transition ended. `applied` also when the record already said so, then with `repeated`. */
export type TransitionResult =
  | { readonly kind: 'applied'; readonly record: StateRecord; readonly repeated: boolean }
  | { readonly kind: 'refused'; readonly reason: RefusalReason; readonly record: StateRecord }
  | { readonly kind: 'missing' };

/** More conflicts than this in a row: something else is wrong, let the caller's own retry decide. */
const maxRounds = 8;

/**
 * Applies a transition to an order's record.
 *
 * @throws TransientError when the store can't answer, or the record keeps changing
 */
export async function applyTransition<Input>(
  deps: TransitionDeps,
  orderId: string,
  transition: Transition<Input>,
  input: Input,
): Promise<TransitionResult> {
  let seen = await deps.store.get(orderId);
  let isLatest = false;
  let unanswered: StateRecord | undefined;
  for (let round = 0; round < maxRounds; round += 1) {
    if (seen === undefined) return { kind: 'missing' };
    if (isOwnWrite(seen.record, unanswered)) return settled({ kind: 'alreadyDone' }, seen, deps);
    const decision = transition.decide(seen.record, input, deps.clock.now());
    if (decision.kind === 'write') {
      const written = await (isLatest ? writeDecision : tryWriteDecision)(deps, seen, decision);
      if (written === 'unanswered') unanswered = decision.record;
      else if (written !== undefined) return { kind: 'applied', record: written, repeated: false };
    } else if (isLatest) {
      return settled(decision, seen, deps);
    }
    // A remembered version is not believed when it says no, nor when the write met a conflict or lost its answer.
    seen = await deps.store.getLatest(orderId);
    isLatest = true;
  }
  throw new TransientError(`${transition.name}: the record of ${orderId} keeps changing`);
}

/** What was read back is what was written last, by its entry in the history (I2). */
function isOwnWrite(stored: StateRecord, unanswered: StateRecord | undefined): boolean {
  return unanswered !== undefined && isDeepStrictEqual(stored.history.at(-1), unanswered.history.at(-1));
}

/** A first write may remain without an answer: reading back tells whether it was made (I2, T43). */
async function tryWriteDecision(
  deps: TransitionDeps,
  seen: VersionedRecord,
  decision: Extract<Decision, { kind: 'write' }>,
): Promise<StateRecord | 'unanswered' | undefined> {
  try {
    return await writeDecision(deps, seen, decision);
  } catch (error) {
    if (error instanceof TransientError) return 'unanswered';
    throw error;
  }
}

/** A repeat of the write that ended an order may be the first to get as far as the alert and the status. */
async function settled(
  decision: Exclude<Decision, { kind: 'write' }>,
  seen: VersionedRecord,
  deps: TransitionDeps,
): Promise<TransitionResult> {
  if (decision.kind === 'refused') return { kind: 'refused', reason: decision.reason, record: seen.record };
  const record = isTerminal(seen.record) ? await sweepOutbox(deps, seen) : seen.record;
  return { kind: 'applied', record, repeated: true };
}

/** Empties the outbox of a finished order that a crash left behind; its alert may have been lost with it. */
export async function sweepOutbox(deps: TransitionDeps, seen: VersionedRecord): Promise<StateRecord> {
  if (seen.record.outbox.length === 0) return seen.record;
  const record = await emptyOutbox(deps, seen);
  if (record.outbox.length === 0) alertIfGivenUp(record, deps);
  return record;
}

async function writeDecision(
  deps: TransitionDeps,
  seen: VersionedRecord,
  decision: Extract<Decision, { kind: 'write' }>,
): Promise<StateRecord | undefined> {
  const delivery = await sendOutbox(seen.record, deps.sender);
  const next = afterDelivery(decision.record, delivery, deps.clock.now());
  const result = await deps.store.replaceIfUnchanged(next, seen.etag);
  if (result.kind === 'conflict') return undefined;
  tellIfUndeliverable(seen.record, next, deps);
  alertIfGivenUp(result.versioned.record, deps);
  return isTerminal(result.versioned.record) ? emptyOutbox(deps, result.versioned) : result.versioned.record;
}

/** One alert for each order that automation gives up (C52); what an operator did himself needs none. */
function alertIfGivenUp(record: StateRecord, { telemetry }: TransitionDeps): void {
  const { orderId, attempt, processState, error, history } = record;
  const isGivenUp = processState === 'Error' || processState === 'CompensationFailed';
  if (!isGivenUp || history.at(-1)?.actor === 'operator') return;
  telemetry.alert('order-needs-operator', { orderId, attempt, processState, code: error?.code ?? null });
}

/** O4: only the write that notes it tells it. */
function tellIfUndeliverable(before: StateRecord, written: StateRecord, { telemetry }: TransitionDeps): void {
  if (before.statusUndeliverableAt !== null || written.statusUndeliverableAt === null) return;
  const { orderId, application } = written;
  telemetry.event('status-undeliverable', { orderId, application });
}

/** Transition *notified*: sends what waits and removes what was sent. What is not removed now, the supervisor sweeps (O1). */
async function emptyOutbox(deps: TransitionDeps, seen: VersionedRecord): Promise<StateRecord> {
  const next = afterDelivery(seen.record, await sendOutbox(seen.record, deps.sender), deps.clock.now());
  if (next === seen.record) return seen.record;
  try {
    const result = await deps.store.replaceIfUnchanged(next, seen.etag);
    if (result.kind === 'conflict') return seen.record;
    tellIfUndeliverable(seen.record, next, deps);
    return next;
  } catch (error) {
    if (error instanceof TransientError) return seen.record;
    throw error;
  }
}
