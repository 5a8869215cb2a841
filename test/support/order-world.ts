/**
 * A whole order system in memory for the property tests: several processes with stale caches and lost acknowledgements
 * over one state store, attempts that wake when the test says so, agents over a real ledger. The rules are the app's own;
 * only the technology is replaced.
 */
import type { AgentActivityInput } from '../../functions/contracts/agent-activity.js';
import type { AgentReply } from '../../functions/contracts/agent-reply.js';
import type { AgentRequest } from '../../functions/contracts/agent-request.js';
import { recordEffect } from '../../functions/demo/ledger.js';
import type { LedgerAnswer, LedgerEntry } from '../../functions/demo/ledger.js';
import { operate } from '../../functions/operator/operate.js';
import type { OperatorVerb } from '../../functions/operator/operate.js';
import { advanceAttempt } from '../../functions/scheduler/advance.js';
import { requestForActivity } from '../../functions/scheduler/agent-request-builder.js';
import { handleReply } from '../../functions/scheduler/handle-reply.js';
import { startPending } from '../../functions/scheduler/start-pending.js';
import { TransientError } from '../../functions/state/errors.js';
import type { Workflow } from '../../functions/state/order-workflow.js';
import type { OrdersDatabase, StateStore } from '../../functions/state/ports.js';
import type { TransitionDeps } from '../../functions/status/apply-transition.js';
import { submitOrder } from '../../functions/submit/submit-order.js';
import { recoverExpired } from '../../functions/supervisor/recover-expired.js';
import { createAttemptRuntime, stateOf } from './attempt-runtime.js';
import type { Attempt } from './attempt-runtime.js';
import {
  claimLeaseMs,
  maxFailures,
  orderLifetimeMs,
  orderMessage,
  recoveryPolicy,
  stepDeadlineMs,
  workflowV1,
} from './builders.js';
import { faultyStore, seededRandom } from './faulty.js';
import type { Fault } from './faulty.js';
import { createManualClock } from './manual-clock.js';
import type { ManualClock } from './manual-clock.js';
import { createMemoryJobs } from './memory-jobs.js';
import { createMemoryLedger } from './memory-ledger.js';
import type { MemoryLedger } from './memory-ledger.js';
import { createMemoryOrdersDatabase, createMemoryStateDatabase, createMemoryStateStore } from './memory-stores.js';
import type { MemoryStateDatabase } from './memory-stores.js';
import { createRecordingSender, createRecordingTelemetry } from './recording.js';
import type { RecordingSender, RecordingTelemetry } from './recording.js';

/**
 * How an agent treats one request. `lostReply`: done, but nobody hears of it. `refuseAfterEffect`: its first call has done
 * it without an answer, its second one is refused.
 */
export type Behaviour = 'succeed' | 'lostReply' | 'silent' | 'refuse' | 'refuseAfterEffect' | 'fail' | 'defer';

/** The system as the tests drive it. */
export interface OrderWorld {
  readonly clock: ManualClock;
  readonly database: MemoryStateDatabase;
  readonly ledger: ReadonlyMap<string, LedgerEntry>;
  readonly sender: RecordingSender;
  readonly telemetry: RecordingTelemetry;
  readonly attempts: readonly Attempt[];
  readonly replies: readonly AgentReply[];
  readonly requests: () => readonly AgentRequest[];
  submit(process: number, orderId: string): Promise<void>;
  start(process: number): Promise<void>;
  /** Wakes an attempt in some process: it advances, or looks at its inbox and its timer. */
  turn(process: number, attempt: Attempt, behaviour: Behaviour): Promise<void>;
  /** An agent takes a request, for the first time or again, in time or late. */
  serve(request: AgentRequest, behaviour: Behaviour): Promise<void>;
  /** Returns whether the reply is done; otherwise the broker delivers it again. */
  deliver(process: number, reply: AgentReply): Promise<boolean>;
  supervise(process: number): Promise<void>;
  operate(process: number, orderId: string, verb: OperatorVerb): Promise<void>;
  /** The runtime fails an attempt that is under way. */
  crash(attempt: Attempt): void;
  /** A process dies and comes back with an empty memory. */
  restart(process: number): void;
  stopFaults(): void;
}

const processCount = 3;

/** How often the stores of a world fail, and how often a read of theirs shows an earlier version: 0 to 1. */
export interface StoreFaults {
  readonly faulty?: number;
  readonly stale?: number;
}

/** The furthest that a stale read is behind, in writes to its container. */
const maxWritesBehind = 5;

/** Creates a world whose stores fail with the given probabilities, the same way for the same seed. */
export function createOrderWorld(
  seed: number,
  { faulty = 0, stale = 0 }: StoreFaults,
  workflow: Workflow = workflowV1,
): OrderWorld {
  const random = seededRandom(seed);
  const isStale = seededRandom(seed + 1);
  let probability = { faulty, stale };
  const staleness = (): number => (isStale() < probability.stale ? 1 + Math.floor(isStale() * maxWritesBehind) : 0);
  const debt = { toNormal: 0 };
  const clock = createManualClock();
  const database = createMemoryStateDatabase();
  const orders = createMemoryOrdersDatabase(staleness);
  const ledger = createMemoryLedger();
  const sender = createRecordingSender();
  const telemetry = createRecordingTelemetry();
  const attempts: Attempt[] = [];
  const replies: AgentReply[] = [];
  const served = new Set<string>();
  const answered = new Map<string, AgentReply>();
  const refusedKeys = new Set<string>();

  const nextFault = (): Fault => {
    if (random() >= probability.faulty) return 'none';
    return (['unavailable', 'lostAcknowledgement', 'conflict'] as const)[Math.floor(random() * 3)] ?? 'none';
  };
  const newStore = (): StateStore => faultyStore(createMemoryStateStore(database, staleness), nextFault);
  const stores = Array.from({ length: processCount }, newStore);
  const depsOf = (process: number): TransitionDeps & { orders: OrdersDatabase } => {
    const store = stores[process];
    if (store === undefined) throw new Error(`no process ${process}`);
    return { store, clock, sender, telemetry, orders };
  };
  const jobs = createMemoryJobs();
  const orchestrations = createAttemptRuntime(attempts, () => nextFault() !== 'none');

  const serve = async (request: AgentRequest, behaviour: Behaviour): Promise<AgentReply | undefined> => {
    const { requestId, replyToken, orderId, attempt, stepId } = request;
    const known = answered.get(requestId);
    if (known !== undefined) return known;
    const isRepeat = served.has(requestId);
    served.add(requestId);
    if (behaviour.startsWith('refuse')) refusedKeys.add(request.idempotencyKey);
    const remote = { ledger, isRefused: refusedKeys.has(request.idempotencyKey) };
    const outcome = await serveOverLedger(request, behaviour, remote);
    if (outcome === undefined) return undefined;
    const uncertain = isRepeat || behaviour === 'refuseAfterEffect';
    const reply = { schemaVersion: 1, requestId, replyToken, orderId, attempt, stepId, ...outcome, uncertain } as const;
    // An agent process that lives does not serve again what it has answered; a success is harmless to repeat.
    if (!uncertain && reply.outcome !== 'succeeded') answered.set(requestId, reply);
    return reply;
  };

  return {
    clock,
    database,
    ledger: ledger.entries,
    sender,
    telemetry,
    attempts,
    replies,
    requests: () =>
      ['payment-requests', 'shipping-requests'].flatMap((queue) =>
        sender.queued(queue).map(({ body }) => body as AgentRequest),
      ),
    submit: async (process, orderId) => {
      const gate = { mode: () => Promise.resolve('open' as const), mayStartNow: () => false };
      const policy = {
        applications: ['web-shop'],
        workflow,
        maxAttempts: maxFailures,
        orderLifetimeMs,
        busyRetryAfterMs: 1_000,
      };
      const message = { body: orderMessage({ orderId }), brokerId: orderId, traceparent: null };
      const startNow = (): Promise<void> => Promise.resolve();
      await ignoringTransient(submitOrder(message, { ...depsOf(process), gate, policy, startNow }));
    },
    start: async (process) => {
      const policy = {
        claimLeaseMs,
        releaseBackoffMs: 100,
        pageSize: 2,
        maxPerRun: 10,
        concurrency: 2,
        normalShare: 0.2,
      };
      await ignoringTransient(startPending(10, { ...depsOf(process), orchestrations, random, debt, policy }));
    },
    turn: async (process, attempt, behaviour) => {
      const policy = { stepDeadlineMs, orderLifetimeMs, backoffMs: 500, maxBackoffMs: 2_000 };
      const deps = { ...depsOf(process), random, policy };
      const fenced = { ...deps, store: fencedBy(attempt.instanceId, deps.store, database) };
      if (attempt.phase === 'waiting') awaitReply(attempt, clock);
      if (attempt.phase !== 'advancing') return;
      await advanceOnce(attempt, fenced);
      const wait = (ms: number): Promise<void> => {
        clock.advance(ms);
        return Promise.resolve();
      };
      await runActivity(attempt, async (input) => {
        const request = await ignoringTransient(requestForActivity(input, { ...deps, wait }));
        return request && serve(request, behaviour);
      });
    },
    serve: async (request, behaviour) => {
      const reply = await serve(request, behaviour);
      if (reply !== undefined) replies.push(reply);
    },
    deliver: async (process, reply) => {
      const isDone = handleReply({ body: reply, redelivery: 0 }, { ...depsOf(process), orchestrations }).then(
        () => true,
      );
      return (await ignoringTransient(isDone)) === true;
    },
    supervise: async (process) => {
      const limits = {
        windowMs: 60_000,
        pageSize: 2,
        maxPerRun: 10,
        concurrency: 2,
        maxRequestCharge: 1_000,
        scanEveryMinutes: 1,
      };
      const policy = { ...recoveryPolicy, ...limits };
      await ignoringTransient(recoverExpired({ ...depsOf(process), orchestrations, random, policy, jobs }));
    },
    operate: async (process, orderId, verb) => {
      const policy = { budgetGrant: 30, orderLifetimeMs: 3_600_000 };
      const body = { reason: 'by the book', stepId: 'payment' };
      await ignoringTransient(operate(verb, { orderId, body }, { ...depsOf(process), policy }));
    },
    crash: (attempt) => {
      if (stateOf(attempt) !== 'underWay') return;
      attempt.phase = 'stopped';
      attempt.hasCrashed = true;
    },
    restart: (process) => {
      stores[process] = newStore();
    },
    stopFaults: () => {
      probability = { faulty: 0, stale: 0 };
    },
  };
}

/** Every caller of the app's functions has a retry of its own: the queue, the timer, Durable, the operator. */
async function ignoringTransient<Result>(work: Promise<Result>): Promise<Result | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof TransientError) return undefined;
    throw error;
  }
}

/** I1: whatever an attempt writes, the record was its own before. */
function fencedBy(instanceId: string, store: StateStore, database: MemoryStateDatabase): StateStore {
  return {
    ...store,
    replaceIfUnchanged: async (record, etag) => {
      const before = database.documents.get(record.orderId);
      if (before?.etag === etag && before.document['lockedBy'] !== instanceId) {
        throw new Error(`I1: ${instanceId} writes a record of ${String(before.document['lockedBy'])}`);
      }
      return store.replaceIfUnchanged(record, etag);
    },
  };
}

async function advanceOnce(attempt: Attempt, deps: Parameters<typeof advanceAttempt>[1]): Promise<void> {
  const { instanceId, orderId, reply } = attempt;
  const result = await ignoringTransient(
    advanceAttempt({ orderId, instanceId, replyToken: tokenOf(attempt), reply }, deps),
  );
  if (result === undefined) {
    attempt.failures += 1;
    if (attempt.failures >= 4) attempt.phase = 'stopped';
    return;
  }
  attempt.failures = 0;
  attempt.dispatched = result.kind === 'dispatched' ? result : undefined;
  attempt.phase = result.kind === 'dispatched' ? 'waiting' : 'stopped';
}

async function runActivity(
  attempt: Attempt,
  run: (input: AgentActivityInput) => Promise<AgentReply | undefined>,
): Promise<void> {
  const { dispatched, orderId, phase } = attempt;
  if (phase !== 'waiting' || dispatched?.transport !== 'activity') return;
  const reply = await run({ orderId, requestId: dispatched.requestId, replyToken: tokenOf(attempt) });
  if (reply === undefined) attempt.phase = 'timedOut';
  else take(attempt, reply);
}

/** The race of the reply against the deadline, with the same checks as the orchestrator makes. */
function awaitReply(attempt: Attempt, clock: ManualClock): void {
  const { dispatched } = attempt;
  if (dispatched === undefined) return;
  const isExpected = (reply: AgentReply): boolean =>
    reply.requestId === dispatched.requestId && reply.replyToken === tokenOf(attempt);
  const reply = attempt.inbox.find(isExpected);
  if (clock.now() >= dispatched.completeBy) attempt.phase = 'timedOut';
  else if (reply !== undefined) take(attempt, reply);
}

function take(attempt: Attempt, reply: AgentReply): void {
  attempt.reply = reply;
  attempt.turns += 1;
  attempt.phase = 'advancing';
}

function tokenOf({ instanceId, turns }: Attempt): string {
  const digits = Buffer.from(`${instanceId}.${turns}`).toString('hex');
  return `00000000-0000-4000-8000-${digits.slice(-12).padStart(12, '0')}`;
}

/**
 * A remote service behind an agent: idempotent by key, fenced by token. It may refuse what it has done, as one that looks
 * at the balance before the key; what it has refused it refuses again.
 */
async function serveOverLedger(
  request: AgentRequest,
  behaviour: Behaviour,
  { ledger, isRefused }: { readonly ledger: MemoryLedger; readonly isRefused: boolean },
): Promise<Pick<AgentReply, 'outcome' | 'error' | 'retryAfterMs'> | undefined> {
  const { orderId, stepId: service, action, idempotencyKey: key, fencingToken: token } = request;
  if (behaviour === 'silent') return undefined;
  if (behaviour === 'defer') return { outcome: 'deferred', retryAfterMs: 1_000 };
  const doIt = (): Promise<LedgerAnswer> => recordEffect(ledger, { orderId, service, action, key, token });
  if (behaviour === 'refuseAfterEffect') await doIt();
  if (isRefused) return { outcome: 'refused', error: { code: 'No', message: '' } };
  if (behaviour === 'fail') return { outcome: 'failed', error: { code: 'No', message: '' } };
  const answer = await doIt();
  if (answer.kind === 'staleToken' || behaviour === 'lostReply') return undefined;
  return answer.kind === 'done'
    ? { outcome: 'succeeded' }
    : { outcome: 'refused', error: { code: 'Undone', message: '' } };
}
