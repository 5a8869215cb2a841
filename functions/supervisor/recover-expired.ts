/**
 * Step 6 of the article: find attempts whose time is up and ask for their recovery, one conditional write each. The
 * supervisor knows no business logic and restarts nothing itself (R31, R38).
 *
 * Invariants
 * V1 A run is bounded: at most `maxPerRun` recoveries, and a run that has cost `maxRequestCharge` RU stops (R106, C44).
 * V2 A recovery counts only if the record is still exactly as seen: two supervisors recover an order once (R39, R109, C15).
 * V3 Nothing old is invisible: a share of each run is for records that are older than the window or have no deadline; what
 *    a run does not reach, the next one does (T59, C2).
 * V4 Records that cannot be recovered, however many, do not keep the others from it (T60).
 * V5 No part of a run ends the run: a page or a part that fails is counted and reported, the other parts still happen, and
 *    the run always reports itself.
 */
import { isDeepStrictEqual } from 'node:util';
import { addMs, msBetween } from '../contracts/timestamp.js';
import type { Timestamp } from '../contracts/timestamp.js';
import { TransientError } from '../state/errors.js';
import type { RecordPage, VersionedRecord } from '../state/ports.js';
import type { ProcessState, StateRecord } from '../state/state-record.js';
import { alertOnce } from '../status/alert-once.js';
import { noteWaiting } from './note-waiting.js';
import { recoverOrder } from './recover-order.js';
import { emptyMemory, keepMemory, recallMemory } from './supervisor-memory.js';
import { countPage, guardedSweep, metered, newRun } from './supervisor-run.js';
import type { SupervisorDeps, SupervisorPolicy, SupervisorRun, SweepDeps } from './supervisor-run.js';
import { sweepOutboxes } from './sweep-outboxes.js';

const minuteMs = 60_000;

/** Request units of reading one record of about a kilobyte. */
const pointReadCharge = 1;

const supervisedStates: readonly ProcessState[] = ['Processing', 'Compensating'];

/** V3: what has just expired, and what the index brings, takes at most this share of a run while anything older waits. */
const windowShare = 0.75;

/** One run of the supervisor. */
export async function recoverExpired(given: SupervisorDeps): Promise<SupervisorRun> {
  const run = newRun();
  const { jobs, telemetry } = given;
  const sweep = <Result>(name: string, work: () => Promise<Result>): Promise<Result | 'failed'> =>
    guardedSweep(name, { run, telemetry }, work); // V5
  const recalled = await sweep('recall', () => recallMemory(jobs));
  const memory = recalled === 'failed' ? emptyMemory() : recalled;
  const before = structuredClone(memory);
  const deps = { ...given, store: metered(given.store, run), memory };
  await sweep('index', () => recoverIndexed(run, deps));
  if (isScanDue(deps)) await scanAll(run, deps);
  await sweep('statuses', () => sweepOutboxes(run, deps));
  await sweep('waiting', () => noteWaiting(run, deps));
  if (!isDeepStrictEqual(memory, before)) await sweep('remember', () => keepMemory(memory, jobs));
  telemetry.event('supervisor-run', { ...run });
  return run;
}

/** The index brings candidates cheaply; whether their time is up, the record decides. */
async function recoverIndexed(run: SupervisorRun, deps: SupervisorDeps): Promise<void> {
  const { index, clock, policy } = deps;
  if (index === undefined) return;
  const until = addMs(clock.now(), -policy.graceMs);
  for await (const orderIds of index.due(addMs(until, -2 * policy.scanEveryMinutes * minuteMs), until)) {
    await inGroups(orderIds, { run, deps, share: windowShare }, (orderId) =>
      guarded(orderId, run, deps, async () => {
        run.requestCharge += pointReadCharge;
        const seen = await deps.store.getLatest(orderId);
        if (seen !== undefined && isExpired(seen.record, until)) await recoverInto(run, seen, deps);
      }),
    );
    if (isFull(run, deps, windowShare)) return;
  }
}

function isExpired({ lockedBy, completeBy }: StateRecord, until: Timestamp): boolean {
  return lockedBy !== null && completeBy !== null && completeBy < until;
}

function isScanDue({ index, memory, clock, policy }: SweepDeps): boolean {
  if (index === undefined || memory.scannedAt === null) return true;
  return msBetween(memory.scannedAt, clock.now()) >= policy.scanEveryMinutes * minuteMs;
}

/** The window, then all that is older, then what is left of the window (V3). */
async function scanAll(run: SupervisorRun, deps: SweepDeps): Promise<void> {
  const isWindowDone = await lookThrough(windowScans(deps), run, deps, windowShare);
  const isRestDone = await lookThrough(olderScans(deps), run, deps);
  const isDone = isRestDone && (isWindowDone || (await lookThrough(windowScans(deps), run, deps)));
  if (isDone && deps.index !== undefined) deps.memory.scannedAt = deps.clock.now();
}

/** Pages to look through. */
interface Scan {
  readonly name: string;
  readonly pages: AsyncIterable<RecordPage>;
  /** The next run goes on where this one stopped: records that cannot be recovered must not hide the rest (T60). */
  readonly isResumed: boolean;
}

function* windowScans({ store, clock, policy }: SupervisorDeps): Generator<Scan> {
  const { pageSize } = policy;
  const { completeBefore, completeFrom } = windowOf(clock.now(), policy);
  for (const state of supervisedStates) {
    const pages = store.pageExpired({ state, completeBefore, completeFrom, pageSize });
    yield { name: `window ${state}`, pages, isResumed: false };
  }
}

/** What expired before the window began, and what has no deadline at all. */
function* olderScans({ store, clock, policy, memory }: SweepDeps): Generator<Scan> {
  const { pageSize, startByMs } = policy;
  const window = windowOf(clock.now(), policy);
  for (const state of supervisedStates) {
    const name = `older ${state}`;
    const completeFrom = memory.stoppedAt.get(name);
    const range = { completeBefore: window.completeFrom, ...(completeFrom && { completeFrom }) };
    yield { name, pages: store.pageExpired({ state, ...range, pageSize }), isResumed: true };
  }
  for (const state of supervisedStates) {
    const pages = store.pageWithoutDeadline(state, addMs(window.completeBefore, -startByMs), pageSize);
    yield { name: `no deadline ${state}`, pages, isResumed: false };
  }
}

function windowOf(
  now: Timestamp,
  { graceMs, windowMs }: SupervisorPolicy,
): { readonly completeBefore: Timestamp; readonly completeFrom: Timestamp } {
  const completeBefore = addMs(now, -graceMs);
  return { completeBefore, completeFrom: addMs(completeBefore, -windowMs) };
}

/** Recovers what the scans bring; false if a scan failed, or the share of the run was spent before their end (V1, V5). */
async function lookThrough(scans: Iterable<Scan>, run: SupervisorRun, deps: SweepDeps, share = 1): Promise<boolean> {
  let isComplete = true;
  for (const scan of scans) {
    const outcome = await guardedSweep(scan.name, { run, telemetry: deps.telemetry }, () =>
      followScan(scan, { run, deps, share }),
    );
    if (outcome === 'full') return false;
    if (outcome === 'failed') isComplete = false;
  }
  return isComplete;
}

/** Recovers what one scan brings. `full`: the share of the run was spent before its end. */
async function followScan(
  { name, pages, isResumed }: Scan,
  { run, deps, share }: { readonly run: SupervisorRun; readonly deps: SweepDeps; readonly share: number },
): Promise<'done' | 'full'> {
  const { stoppedAt } = deps.memory;
  for await (const page of pages) {
    countPage(page, run, deps);
    noteOldest(page, run, deps);
    const recoverSeen = (seen: VersionedRecord): Promise<void> =>
      guarded(seen.record.orderId, run, deps, () => recoverInto(run, seen, deps));
    const handled = await inGroups(page.records, { run, deps, share }, recoverSeen);
    if (!isFull(run, deps, share)) continue;
    const position = page.records[handled]?.record.completeBy ?? page.last;
    if (isResumed && position !== undefined) stoppedAt.set(name, position);
    return 'full';
  }
  if (isResumed) stoppedAt.delete(name);
  return 'done';
}

function isFull(run: SupervisorRun, { policy }: SupervisorDeps, share = 1): boolean {
  return roomIn(run, policy, share) <= 0 || run.requestCharge >= share * policy.maxRequestCharge;
}

function roomIn(run: SupervisorRun, { maxPerRun }: SupervisorPolicy, share = 1): number {
  return Math.ceil(share * maxPerRun) - run.recovered - run.renewed - run.lost - run.failed;
}

/** A crowd that expired together is recovered side by side, as far as the run has room (V1); answers how many were tried. */
async function inGroups<Item>(
  items: readonly Item[],
  { run, deps, share }: { readonly run: SupervisorRun; readonly deps: SupervisorDeps; readonly share: number },
  recoverOne: (item: Item) => Promise<void>,
): Promise<number> {
  let tried = 0;
  const room = (): number => roomIn(run, deps.policy, share);
  while (tried < items.length && room() > 0) {
    if (tried > 0 && isFull(run, deps, share)) break; // Also the poorest run recovers something.
    const size = Math.min(deps.policy.concurrency, room());
    const group = items.slice(tried, tried + size);
    await Promise.all(group.map(recoverOne));
    tried += group.length;
  }
  return tried;
}

function noteOldest(page: RecordPage, run: SupervisorRun, { clock }: SupervisorDeps): void {
  const deadlines = page.records.flatMap(({ record }) => record.completeBy ?? []);
  const ages = deadlines.map((completeBy) => msBetween(completeBy, clock.now()));
  run.oldestExpiredMs = Math.max(run.oldestExpiredMs, ...ages);
}

async function recoverInto(run: SupervisorRun, seen: VersionedRecord, deps: SupervisorDeps): Promise<void> {
  run[await recoverOrder(seen.record, deps)] += 1;
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
    if (!(error instanceof TransientError)) alertOnce(deps.telemetry, 'recovery-impossible', { orderId });
  }
}
