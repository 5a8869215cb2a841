/**
 * Step 6 of the article: find attempts whose time is up and ask for their recovery, one conditional write each. The
 * supervisor knows no business logic and restarts nothing itself (R31, R38).
 *
 * Invariants
 * V1 A run is bounded: pages of one iterator, at most `maxPerRun` recoveries and `maxRequestCharge` RU (R106, C44).
 * V2 A recovery counts only if the record is still exactly as seen: two supervisors recover an order once (R39, R109, C15).
 * V3 Nothing old is invisible: what the window did not fill, the run spends on older and on deadline-less records (T59, C2).
 * V4 One record that cannot be recovered does not keep the others from it (T60).
 */
import { addMs, msBetween } from '../contracts/timestamp.js';
import type { Timestamp } from '../contracts/timestamp.js';
import { recover } from '../state/attempt-transitions.js';
import type { RecoveryPolicy } from '../state/attempt-transitions.js';
import { TransientError } from '../state/errors.js';
import { findWorkflow } from '../state/order-workflow.js';
import type { RecordPage, RecoveryIndex, VersionedRecord } from '../state/ports.js';
import type { ProcessState, StateRecord } from '../state/state-record.js';
import { alertUnreadable } from '../status/alert-unreadable.js';
import { applyTransition, sweepOutbox } from '../status/apply-transition.js';
import type { TransitionDeps } from '../status/apply-transition.js';

/** What the supervisor needs. */
export interface SupervisorDeps extends TransitionDeps {
  readonly policy: SupervisorPolicy;
  /** Where to look first, if the option is on. */
  readonly index?: RecoveryIndex;
  /** When this process last scanned all records; matters only with an index. */
  readonly lastScan: { at: Timestamp | undefined };
  /** 0 to 1; seeded in tests. */
  readonly random: () => number;
}

/** Settings of the supervisor; times in milliseconds. */
export interface SupervisorPolicy extends RecoveryPolicy {
  /** How far back the first pages look. */
  readonly windowMs: number;
  readonly pageSize: number;
  readonly maxPerRun: number;
  /** How many orders are recovered at the same time. */
  readonly concurrency: number;
  /** Request units after which a run stops; the next one goes on (R107). */
  readonly maxRequestCharge: number;
  /** With a recovery index: how often all records are scanned all the same, which is the guarantee. */
  readonly scanEveryMinutes: number;
}

/** What one run did. */
export interface SupervisorRun {
  recovered: number;
  /** Somebody else was faster, or the attempt went on meanwhile. */
  lost: number;
  /** Could not be recovered now. */
  failed: number;
  unreadable: number;
  statusesSwept: number;
  requestCharge: number;
  /** How long the oldest record that was seen is past its deadline. */
  oldestExpiredMs: number;
}

const minuteMs = 60_000;

/** Request units of reading one record of about a kilobyte. */
const pointReadCharge = 1;

const supervisedStates: readonly ProcessState[] = ['Processing', 'Compensating'];

/** One run of the supervisor. */
export async function recoverExpired(deps: SupervisorDeps): Promise<SupervisorRun> {
  const run = {
    recovered: 0,
    lost: 0,
    failed: 0,
    unreadable: 0,
    statusesSwept: 0,
    requestCharge: 0,
    oldestExpiredMs: 0,
  };
  await recoverIndexed(run, deps);
  for (const scan of isScanDue(deps) ? scans(deps) : []) {
    for await (const page of scan) {
      countPage(page, run, deps);
      noteOldest(page, run, deps);
      await inGroups(page.records, run, deps, (seen) =>
        guarded(seen.record.orderId, run, deps, () => recoverInto(run, seen, deps)),
      );
      if (isFull(run, deps)) break;
    }
    if (isFull(run, deps)) break;
  }
  await sweepOutboxes(run, deps);
  deps.telemetry.event('supervisor-run', { ...run });
  return run;
}

/** The index brings candidates cheaply; whether their time is up, the record decides. */
async function recoverIndexed(run: SupervisorRun, deps: SupervisorDeps): Promise<void> {
  const { index, clock, policy } = deps;
  if (index === undefined) return;
  const until = addMs(clock.now(), -policy.graceMs);
  for await (const orderIds of index.due(addMs(until, -2 * policy.scanEveryMinutes * minuteMs), until)) {
    await inGroups(orderIds, run, deps, (orderId) =>
      guarded(orderId, run, deps, async () => {
        run.requestCharge += pointReadCharge;
        const seen = await deps.store.getLatest(orderId);
        if (seen !== undefined && isExpired(seen.record, until)) await recoverInto(run, seen, deps);
      }),
    );
    if (isFull(run, deps)) return;
  }
}

function isExpired({ lockedBy, completeBy }: StateRecord, until: Timestamp): boolean {
  return lockedBy !== null && completeBy !== null && completeBy < until;
}

function isScanDue({ index, lastScan, clock, policy }: SupervisorDeps): boolean {
  if (index === undefined) return true;
  const now = clock.now();
  const isRecent = lastScan.at !== undefined && msBetween(lastScan.at, now) < policy.scanEveryMinutes * minuteMs;
  if (!isRecent) lastScan.at = now;
  return !isRecent;
}

function isFull(run: SupervisorRun, { policy }: SupervisorDeps): boolean {
  return roomIn(run, policy) <= 0 || run.requestCharge >= policy.maxRequestCharge;
}

function roomIn({ recovered, lost, failed }: SupervisorRun, { maxPerRun }: SupervisorPolicy): number {
  return maxPerRun - recovered - lost - failed;
}

/** A crowd that expired together is recovered side by side, as far as the run has room (V1). */
async function inGroups<Item>(
  items: readonly Item[],
  run: SupervisorRun,
  deps: SupervisorDeps,
  recoverOne: (item: Item) => Promise<void>,
): Promise<void> {
  let next = 0;
  while (next < items.length && !isFull(run, deps)) {
    const size = Math.min(deps.policy.concurrency, roomIn(run, deps.policy));
    await Promise.all(items.slice(next, next + size).map(recoverOne));
    next += size;
  }
}

/** The window first, then whatever is older, then records without a deadline (V3). */
function* scans({ store, clock, policy }: SupervisorDeps): Generator<AsyncIterable<RecordPage>> {
  const { pageSize, graceMs, windowMs, startByMs } = policy;
  const completeBefore = addMs(clock.now(), -graceMs);
  const completeFrom = addMs(completeBefore, -windowMs);
  for (const state of supervisedStates) yield store.pageExpired({ state, completeBefore, completeFrom, pageSize });
  for (const state of supervisedStates) yield store.pageExpired({ state, completeBefore: completeFrom, pageSize });
  for (const state of supervisedStates) {
    yield store.pageWithoutDeadline(state, addMs(completeBefore, -startByMs), pageSize);
  }
}

function countPage(page: RecordPage, run: SupervisorRun, deps: SupervisorDeps): void {
  run.requestCharge += page.requestCharge;
  run.unreadable += page.unreadable.length;
  alertUnreadable(page, deps.telemetry);
}

function noteOldest(page: RecordPage, run: SupervisorRun, { clock }: SupervisorDeps): void {
  const deadlines = page.records.flatMap(({ record }) => record.completeBy ?? []);
  const ages = deadlines.map((completeBy) => msBetween(completeBy, clock.now()));
  run.oldestExpiredMs = Math.max(run.oldestExpiredMs, ...ages);
}

async function recoverInto(run: SupervisorRun, seen: VersionedRecord, deps: SupervisorDeps): Promise<void> {
  const isRecovered = await recoverRecord(seen, deps);
  if (isRecovered) run.recovered += 1;
  else run.lost += 1;
}

/** V4: what goes wrong with one order is counted and told; the run goes on. */
async function guarded(
  orderId: string,
  run: SupervisorRun,
  deps: SupervisorDeps,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    run.failed += 1;
    deps.telemetry.event('recovery-failed', { orderId, cause: String(error) });
    if (!(error instanceof TransientError)) deps.telemetry.alert('recovery-impossible', { orderId });
  }
}

/** Recovers one order that a hint names, if its time is up. */
export async function recoverOrder(orderId: string, deps: SupervisorDeps): Promise<boolean> {
  const seen = await deps.store.getLatest(orderId);
  return seen !== undefined && recoverRecord(seen, deps);
}

async function recoverRecord({ record }: VersionedRecord, deps: SupervisorDeps): Promise<boolean> {
  const { orderId, attempt } = record;
  const result = await applyTransition(deps, orderId, recover, {
    observedLockedBy: record.lockedBy,
    observedCompleteBy: record.completeBy,
    workflow: findWorkflow(record.workflowVersion),
    policy: deps.policy,
    jitter: deps.random(),
  });
  if (result.kind !== 'applied') return false;
  const { processState, failureCount } = result.record;
  deps.telemetry.event('attempt-expired', { orderId, attempt, processState, failureCount });
  return true;
}

/**
 * Sends statuses that a crash left in the outbox of a finished order (T53). An application whose queue does not take them
 * is passed over for the rest of the run, so that it does not keep the others waiting.
 */
async function sweepOutboxes(run: SupervisorRun, deps: SupervisorDeps): Promise<void> {
  const { graceMs, pageSize, maxPerRun, maxRequestCharge } = deps.policy;
  const unreachable = new Set<string>();
  for await (const page of deps.store.pageUnsent(addMs(deps.clock.now(), -graceMs), pageSize)) {
    countPage(page, run, deps);
    for (const seen of page.records) {
      const { application } = seen.record;
      if (unreachable.has(application)) continue;
      const { outbox } = await sweepOutbox(deps, seen);
      if (outbox.length === 0) run.statusesSwept += 1;
      else unreachable.add(application);
    }
    if (run.statusesSwept >= maxPerRun || run.requestCharge >= maxRequestCharge) return;
  }
}
