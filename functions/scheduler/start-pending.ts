/**
 * Step 3 of the article: page what waits, claim each order by one conditional write, start its attempt (R84–R87).
 *
 * Invariants
 * P1 The claim is written before the attempt is started; the instance id follows from order and attempt (R86).
 * P2 A start whose outcome is unknown is never undone: the claim lease brings the supervisor (T1, T3).
 * P3 A start that was definitely refused is released, counts no failure, and ends this run (a slow task hub burns no attempts).
 * P4 An attempt that somebody else claimed with the same id is only started if the runtime does not know it (T4, T5, C22).
 * P5 One order that can't be started does not keep the others from it, and takes no other order's place (T60).
 * P6 A starter that loses a claim is not alone: it leaves that page to the other, goes on elsewhere, and comes back for what
 *    is left. Several starters spread over the backlog instead of racing for the same orders.
 */
import { orchestrationInstanceId } from '../contracts/identifiers.js';
import { msBetween } from '../contracts/timestamp.js';
import { claim, release } from '../state/attempt-transitions.js';
import { TransientError } from '../state/errors.js';
import type { Orchestrations, PendingQuery, RecordPage, VersionedRecord } from '../state/ports.js';
import type { StateRecord } from '../state/state-record.js';
import { alertOnce } from '../status/alert-once.js';
import { alertUnreadable } from '../status/alert-unreadable.js';
import { applyTransition } from '../status/apply-transition.js';
import type { TransitionDeps } from '../status/apply-transition.js';

/** What the starter needs. */
export interface StarterDeps extends TransitionDeps {
  readonly orchestrations: Pick<Orchestrations, 'start' | 'instanceState'>;
  readonly policy: StarterPolicy;
  /** From 0 to 1, as `Math.random`. */
  readonly random: () => number;
}

/** What one run of the starter needs. */
export interface StarterRunDeps extends StarterDeps {
  /** The part of an order, 0 to 1, by which normal priority has had less than its share of the runs so far; a run changes it. */
  readonly debt: { toNormal: number };
}

/** Settings of the starter; times in milliseconds. */
export interface StarterPolicy {
  readonly claimLeaseMs: number;
  readonly releaseBackoffMs: number;
  readonly pageSize: number;
  /** At most this many orders are claimed in one run. */
  readonly maxPerRun: number;
  /** How many orders are claimed and started at the same time. */
  readonly concurrency: number;
  /** Share of a run's room, 0 to 1, that high priority leaves to normal orders. */
  readonly normalShare: number;
}

/** What one try to start an order ended in. */
export type StartOutcome = 'started' | 'lost' | 'released' | 'failed';

/** What one run of the starter did. */
export interface StarterRun {
  readonly started: number;
  readonly lost: number;
  readonly released: number;
  /** Could not be claimed now; the others were (T60). */
  readonly failed: number;
  /** How long the oldest order that was seen has been due, in milliseconds (T7). */
  readonly oldestPendingMs: number;
}

type Run = { -readonly [Key in keyof StarterRun]: StarterRun[Key] };

/** Over so many pages starters spread that meet at one. */
const pagesToSpreadOver = 8;

/** Part of a run: what to look for, and how many orders to start at most. */
interface Slice {
  readonly query: Pick<PendingQuery, 'state' | 'priority'>;
  readonly limit: number;
}

/**
 * One run: claims and starts what waits, the longest due first.
 *
 * @param capacity how many new orders the in-flight limit leaves room for
 */
export async function startPending(capacity: number, deps: StarterRunDeps): Promise<StarterRun> {
  const run = { started: 0, lost: 0, released: 0, failed: 0, oldestPendingMs: 0 };
  for (const slice of slicesOf(capacity, run, deps)) {
    await startSlice(slice, run, deps);
    if (run.released > 0) break; // P3
  }
  return run;
}

/**
 * Undo comes first and needs no room: what was begun is brought to an end. Then high priority, which leaves a share to
 * normal orders so that they never starve (R63), then whatever room is left. A share of less than one order is owed until
 * it makes a whole one: else normal orders would get nothing of many runs with little room.
 */
function* slicesOf(capacity: number, run: StarterRun, { policy, debt }: StarterRunDeps): Generator<Slice> {
  yield { query: { state: 'Compensating' }, limit: policy.maxPerRun };
  const before = run.started;
  const room = Math.max(0, Math.min(capacity, policy.maxPerRun - run.started));
  const left = (): number => room - (run.started - before);
  const high = { state: 'Pending', priority: 'high' } as const;
  const dueToNormal = debt.toNormal + room * policy.normalShare;
  const keptForNormal = Math.floor(dueToNormal);
  yield { query: high, limit: room - keptForNormal };
  const isContended = left() === keptForNormal;
  debt.toNormal = isContended ? dueToNormal - keptForNormal : 0;
  yield { query: { state: 'Pending', priority: 'normal' }, limit: left() };
  yield { query: high, limit: left() };
}

async function startSlice(slice: Slice, run: Run, deps: StarterDeps): Promise<void> {
  let left = slice.limit;
  let mayBeIncomplete = true;
  while (mayBeIncomplete && left > 0 && run.released === 0) {
    const { started, lost } = run;
    left -= await passOver({ ...slice, limit: left }, run, deps);
    // P6: a pass that loses without winning leaves the rest to the winner, who passes again.
    mayBeIncomplete = run.lost > lost && run.started > started;
  }
}

/** Goes once over what waits; returns how many places it took. */
async function passOver(slice: Slice, run: Run, deps: StarterDeps): Promise<number> {
  const { pageSize, maxPerRun } = deps.policy;
  const takenBefore = placesTaken(run);
  const left = (): number => slice.limit - (placesTaken(run) - takenBefore);
  let pagesToSkip = 0;
  for await (const page of deps.store.pagePending({ ...slice.query, notBefore: deps.clock.now(), pageSize })) {
    alertUnreadable(page, deps.telemetry);
    noteOldest(page, run, deps);
    pagesToSkip -= 1;
    if (pagesToSkip >= 0) continue;
    const lostBefore = run.lost;
    const records = run.lost > 0 ? shuffled(page.records, deps.random) : page.records;
    await startRecords(records, left(), run, deps);
    if (left() <= 0 || run.released > 0 || run.failed >= maxPerRun) break;
    if (run.lost > lostBefore) pagesToSkip = Math.floor(deps.random() * pagesToSpreadOver); // P6
  }
  return placesTaken(run) - takenBefore;
}

/** A claim that was lost takes a place too: another starter has put that order in flight. One that failed takes none (P5). */
function placesTaken({ started, lost, released }: StarterRun): number {
  return started + lost + released;
}

function shuffled<Item>(items: readonly Item[], random: () => number): readonly Item[] {
  const keyed = items.map((item) => ({ item, key: random() }));
  return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
}

function noteOldest(page: RecordPage, run: Run, { clock }: StarterDeps): void {
  const ages = page.records.map(({ record }) => msBetween(record.notBefore, clock.now()));
  run.oldestPendingMs = Math.max(run.oldestPendingMs, ...ages);
}

/** Starts records as far as there is room; stops after a group with a lost claim (P6) or a refused start (P3). */
async function startRecords(
  records: readonly VersionedRecord[],
  room: number,
  run: Run,
  deps: StarterDeps,
): Promise<void> {
  const lostBefore = run.lost;
  const fullAt = placesTaken(run) + room;
  let tried = 0;
  while (tried < records.length && run.released === 0 && run.lost === lostBefore) {
    const size = Math.min(deps.policy.concurrency, fullAt - placesTaken(run));
    if (size <= 0) return;
    const group = records.slice(tried, tried + size);
    const outcomes = await Promise.all(group.map(({ record }) => startGuarded(record, deps)));
    for (const outcome of outcomes) run[outcome] += 1;
    tried += group.length;
  }
}

/** One order that can't be started does not keep the others from it (P5). */
async function startGuarded(record: StateRecord, deps: StarterDeps): Promise<StartOutcome> {
  try {
    return await startOrder(record, deps);
  } catch (error) {
    const { orderId } = record;
    deps.telemetry.event('start-failed', { orderId, cause: String(error) });
    if (!(error instanceof TransientError)) alertOnce(deps.telemetry, 'start-impossible', { orderId });
    return 'failed';
  }
}

/**
 * The eager start of one order, right after submit: best effort, the starter's next run is the guarantee.
 *
 * @returns nothing; a failure is reported as an event
 */
export async function startNow(orderId: string, deps: StarterDeps): Promise<void> {
  try {
    const seen = await deps.store.get(orderId);
    if (seen !== undefined) await startOrder(seen.record, deps);
  } catch (error) {
    deps.telemetry.event('eager-start-failed', { orderId, cause: String(error) });
  }
}

/** Claims the next attempt of an order and starts it. */
export async function startOrder(record: StateRecord, deps: StarterDeps): Promise<StartOutcome> {
  const attempt = record.attempt + 1;
  const { orderId } = record;
  const claimed = await applyTransition(deps, orderId, claim, { attempt, claimLeaseMs: deps.policy.claimLeaseMs });
  if (claimed.kind !== 'applied') return 'lost';
  if (!claimed.repeated) deps.telemetry.event('attempt-claimed', { orderId, attempt });
  return startAttempt({ orderId, attempt, mayBeRunning: claimed.repeated }, deps);
}

async function isKnown(instanceId: string, { orchestrations }: StarterDeps): Promise<boolean> {
  return (await orchestrations.instanceState(instanceId)) !== 'unknown';
}

async function startAttempt(
  { orderId, attempt, mayBeRunning }: { orderId: string; attempt: number; mayBeRunning: boolean },
  deps: StarterDeps,
): Promise<StartOutcome> {
  const instanceId = orchestrationInstanceId(orderId, attempt);
  try {
    if (mayBeRunning && (await isKnown(instanceId, deps))) return 'lost'; // P4
    const start = await deps.orchestrations.start(instanceId, { orderId, attempt });
    if (start === 'started') return 'started';
  } catch (error) {
    if (!(error instanceof TransientError)) throw error;
    deps.telemetry.event('start-unknown', { orderId, attempt });
    return 'started'; // P2
  }
  const released = await applyTransition(deps, orderId, release, {
    instanceId,
    backoffMs: deps.policy.releaseBackoffMs,
  });
  if (released.kind !== 'applied') return 'started'; // The attempt runs after all: it has dispatched a step or ended.
  deps.telemetry.event('attempt-released', { orderId, attempt });
  return 'released';
}
