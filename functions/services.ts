/**
 * The composition root: settings → clients → ports → what each role needs. Built once, on first use. The only place that
 * builds clients; roles get what they need as arguments.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { InvocationContext } from '@azure/functions';
import { createHttpRemoteService } from './agents/http-remote-service.js';
import { createRemoteGuards } from './agents/remote-guards.js';
import type { RemoteGuards } from './agents/remote-guards.js';
import type { AgentDeps } from './agents/agent.js';
import { createDatabase, createServiceBusClient, sendSmallFramesAtOnce } from './azure/clients.js';
import { createCosmosAdmissionStore } from './azure/cosmos-admission-store.js';
import { createCosmosJobMemory } from './azure/cosmos-job-memory.js';
import { createCosmosDemoLedger } from './azure/cosmos-demo-ledger.js';
import { createCosmosOrdersDatabase } from './azure/cosmos-orders-database.js';
import { createCosmosStateStore } from './azure/cosmos-state-store.js';
import { createCosmosRecoveryIndex } from './azure/cosmos-recovery-index.js';
import { createDurableOrchestrations } from './azure/durable-orchestrations.js';
import { createMessageRejector } from './azure/message-rejector.js';
import { createRecentMap } from './azure/recent-map.js';
import type { RecentMap } from './azure/recent-map.js';
import { createQueueSender } from './azure/service-bus-sender.js';
import type { TriggerDeps } from './azure/service-bus-trigger.js';
import { loadConfig } from './config/config.js';
import type { Config } from './config/config.js';
import type { AgentActivityInput } from './contracts/agent-activity.js';
import type { AgentReply } from './contracts/agent-reply.js';
import type { AgentRequest } from './contracts/agent-request.js';
import { toTimestamp } from './contracts/timestamp.js';
import type { LedgerStore } from './demo/ledger.js';
import type { OperatorDeps } from './operator/operate.js';
import { requestForActivity } from './scheduler/agent-request-builder.js';
import type { AdvanceDeps } from './scheduler/advance.js';
import { durableNames } from './scheduler/attempt-messages.js';
import type { PurgeDeps } from './scheduler/purge-history.js';
import type { ReplyDeps } from './scheduler/handle-reply.js';
import type { AdmissionDeps } from './scheduler/refresh-admission.js';
import { startNow } from './scheduler/start-pending.js';
import type { StarterDeps } from './scheduler/start-pending.js';
import { PermanentError } from './state/errors.js';
import { findWorkflow, retryBudget } from './state/order-workflow.js';
import type { AgentTransport, Workflow } from './state/order-workflow.js';
import type {
  AdmissionStore,
  Clock,
  JobMemory,
  MessageRejector,
  OrdersDatabase,
  QueueSender,
  RecoveryIndex,
  StateStore,
} from './state/ports.js';
import { withRecoveryIndex } from './status/indexed-store.js';
import type { TransitionDeps } from './status/apply-transition.js';
import { createAdmissionGate } from './submit/admission-gate.js';
import type { AdmissionGate } from './submit/admission-gate.js';
import type { SubmitDeps } from './submit/submit-order.js';
import type { AuditDeps } from './supervisor/audit-records.js';
import type { SupervisorDeps, SupervisorPolicy } from './supervisor/supervisor-run.js';
import { createTelemetry } from './telemetry/telemetry.js';

/** Settings that hold the address of an agent's remote service. */
type RemoteSetting = 'PAYMENT_URL' | 'INVENTORY_URL' | 'SHIPPING_URL' | 'INVOICE_URL';

/** Everything that lives as long as the process. */
export interface Services {
  readonly config: Config;
  readonly store: StateStore;
  readonly index?: RecoveryIndex;
  readonly orders: OrdersDatabase;
  readonly sender: QueueSender;
  readonly rejector: MessageRejector;
  readonly ledger: LedgerStore;
  readonly admission: AdmissionStore;
  readonly gate: AdmissionGate;
  readonly jobs: JobMemory;
  /** Of each remote service, shared by all invocations of the process. */
  readonly guards: Readonly<Record<RemoteSetting, RemoteGuards>>;
  /** What the queue agents of the process have answered lately. */
  readonly answered: RecentMap<AgentReply>;
}

/** The app's only clock. */
export const clock: Clock = { now: () => toTimestamp(new Date()) };

/** More requests than an agent gets while a message may come back. */
const rememberedAnswers = 1_000;

let built: Services | undefined;

/** The services of this process. */
export function services(): Services {
  built ??= buildServices(loadConfig());
  return built;
}

function buildServices(config: Config): Services {
  const database = createDatabase(config);
  sendSmallFramesAtOnce();
  const sender = createQueueSender(() => createServiceBusClient(config));
  const records = createCosmosStateStore(database, {
    retentionDays: config.RECORD_RETENTION_DAYS,
    unresolvedRetentionDays: config.UNRESOLVED_RETENTION_DAYS,
  });
  const index = config.RECOVERY_INDEX_ENABLED ? createCosmosRecoveryIndex(database) : undefined;
  const admission = createCosmosAdmissionStore(database);
  const { MAX_IN_FLIGHT: maxInFlight, INTAKE_REFRESH_MS: refreshMs } = config;
  return {
    config,
    store: index === undefined ? records : withRecoveryIndex(records, index),
    ...(index === undefined ? {} : { index }),
    orders: createCosmosOrdersDatabase(database, { retentionDays: orderRetentionDays(config) }),
    sender,
    rejector: createMessageRejector(sender),
    ledger: createCosmosDemoLedger(database),
    admission,
    jobs: createCosmosJobMemory(database),
    gate: createAdmissionGate({ store: admission, clock }, { maxInFlight, refreshMs }),
    guards: {
      PAYMENT_URL: guardsOf('queue', config),
      INVENTORY_URL: guardsOf('activity', config),
      SHIPPING_URL: guardsOf('queue', config),
      INVOICE_URL: guardsOf('activity', config),
    },
    answered: createRecentMap(rememberedAnswers),
  };
}

function guardsOf(transport: AgentTransport, config: Config): RemoteGuards {
  const { BREAKER_FAILURES: failureThreshold, BREAKER_OPEN_MS: openMs, STEP_DEADLINE_MS: stepDeadlineMs } = config;
  return createRemoteGuards(transport, { failureThreshold, openMs, stepDeadlineMs }, { clock, wait: delay });
}

/** An order outlives its record, and an order that was given up can be resubmitted until its record expires. */
function orderRetentionDays({ UNRESOLVED_RETENTION_DAYS: days, ORDER_LIFETIME_MS: lifetimeMs }: Config): number {
  return days + 2 * Math.ceil(lifetimeMs / 86_400_000);
}

/** What a transition needs, reporting to this invocation. */
export function transitionDeps(context: InvocationContext): TransitionDeps {
  const { store, sender } = services();
  return { store, sender, clock, telemetry: createTelemetry(context) };
}

/** What receiving a message needs. */
export function triggerDeps(context: InvocationContext): TriggerDeps {
  return { ...transitionDeps(context), rejector: services().rejector };
}

/** What the starter needs. */
export function starterDeps(context: InvocationContext): StarterDeps {
  const { config } = services();
  return {
    ...transitionDeps(context),
    orchestrations: createDurableOrchestrations(context, durableNames.orchestrator),
    random: Math.random,
    policy: {
      claimLeaseMs: config.CLAIM_LEASE_MS,
      releaseBackoffMs: config.RELEASE_BACKOFF_MS,
      pageSize: config.STARTER_PAGE_SIZE,
      maxPerRun: config.STARTER_MAX_PER_RUN,
      concurrency: config.STARTER_CONCURRENCY,
      normalShare: config.STARTER_NORMAL_SHARE_PERCENT / 100,
    },
  };
}

/** What refreshing the admission document needs. */
export function admissionDeps(context: InvocationContext): AdmissionDeps {
  const { config, admission } = services();
  return {
    ...transitionDeps(context),
    admission,
    limits: {
      highWater: config.INTAKE_HIGH_WATER,
      lowWater: config.INTAKE_LOW_WATER,
      maxInFlight: config.MAX_IN_FLIGHT,
    },
  };
}

/** What submit needs; the eager start is the starter's own code. */
export function submitDeps(context: InvocationContext): SubmitDeps {
  const { config, orders, gate } = services();
  const starter = starterDeps(context);
  return {
    ...transitionDeps(context),
    orders,
    gate,
    startNow: (orderId) => startNow(orderId, starter),
    policy: {
      applications: config.APPLICATIONS,
      workflow: workflowOfNewOrders(),
      maxAttempts: config.MAX_FAILURES + config.EXTENDED_RETRIES,
      orderLifetimeMs: config.ORDER_LIFETIME_MS,
      busyRetryAfterMs: config.BUSY_RETRY_AFTER_MS,
    },
  };
}

/** What the history purge needs. */
export function purgeDeps(context: InvocationContext): PurgeDeps {
  const orchestrations = createDurableOrchestrations(context, durableNames.orchestrator);
  const { config, jobs } = services();
  return { ...transitionDeps(context), orchestrations, jobs, retentionDays: config.HISTORY_RETENTION_DAYS };
}

/** What advance needs. */
export function advanceDeps(context: InvocationContext): AdvanceDeps {
  const { config, orders } = services();
  const policy = {
    stepDeadlineMs: config.STEP_DEADLINE_MS,
    orderLifetimeMs: config.ORDER_LIFETIME_MS,
    backoffMs: config.RETRY_BACKOFF_MS,
    maxBackoffMs: config.RETRY_MAX_BACKOFF_MS,
  };
  return { ...transitionDeps(context), orders, random: Math.random, policy };
}

/** What agent-reply needs. */
export function replyDeps(context: InvocationContext): ReplyDeps {
  return {
    ...transitionDeps(context),
    orchestrations: createDurableOrchestrations(context, durableNames.orchestrator),
  };
}

/** What the supervisor needs. */
export function supervisorDeps(context: InvocationContext): SupervisorDeps {
  const { index } = services();
  return {
    ...transitionDeps(context),
    ...(index === undefined ? {} : { index }),
    jobs: services().jobs,
    orchestrations: createDurableOrchestrations(context, durableNames.orchestrator),
    random: Math.random,
    policy: supervisorPolicy(),
  };
}

/** What the audit needs. */
export function auditDeps(context: InvocationContext): AuditDeps {
  return { ...transitionDeps(context), jobs: services().jobs, policy: supervisorPolicy() };
}

function supervisorPolicy(): SupervisorPolicy {
  const { config } = services();
  return {
    maxFailures: config.MAX_FAILURES,
    extendedRetries: config.EXTENDED_RETRIES,
    extendedWaitMs: config.EXTENDED_WAIT_MS,
    graceMs: config.SUPERVISOR_GRACE_MS,
    backoffMs: config.RETRY_BACKOFF_MS,
    maxBackoffMs: config.RETRY_MAX_BACKOFF_MS,
    startByMs: config.START_BY_MS,
    claimLeaseMs: config.CLAIM_LEASE_MS,
    orderLifetimeMs: config.ORDER_LIFETIME_MS,
    windowMs: config.SUPERVISOR_WINDOW_MS,
    pageSize: config.SUPERVISOR_PAGE_SIZE,
    maxPerRun: config.SUPERVISOR_MAX_PER_RUN,
    concurrency: config.SUPERVISOR_CONCURRENCY,
    maxRequestCharge: config.SUPERVISOR_MAX_RU_PER_RUN,
    scanEveryMinutes: config.RECOVERY_SCAN_EVERY_MINUTES,
  };
}

/** What an agent needs; its remote service's address is a setting. */
export function agentDeps(context: InvocationContext, remote: RemoteSetting): AgentDeps {
  const { config, guards } = services();
  return {
    remote: createHttpRemoteService(config[remote]),
    ...guards[remote],
    clock,
    telemetry: createTelemetry(context),
    retryDelayMs: config.AGENT_RETRY_DELAY_MS,
    random: Math.random,
    wait: delay,
  };
}

/** The request for an agent that is an activity of this app. */
export function activityRequest(input: AgentActivityInput): Promise<AgentRequest | undefined> {
  const { store, orders, config } = services();
  const policy = { stepDeadlineMs: config.STEP_DEADLINE_MS };
  return requestForActivity(input, { store, orders, clock, wait: delay, policy });
}

/** What the operator's functions need. */
export function operatorDeps(context: InvocationContext): OperatorDeps {
  const { config } = services();
  const budgetGrant = retryBudget(workflowOfNewOrders(), config.MAX_FAILURES + config.EXTENDED_RETRIES);
  return { ...transitionDeps(context), policy: { budgetGrant, orderLifetimeMs: config.ORDER_LIFETIME_MS } };
}

function workflowOfNewOrders(): Workflow {
  const { WORKFLOW_VERSION: version } = services().config;
  const workflow = findWorkflow(version);
  if (workflow === undefined)
    throw new PermanentError('UnknownWorkflow', `WORKFLOW_VERSION: there is no workflow ${version}`);
  return workflow;
}
