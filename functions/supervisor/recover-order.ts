/** Asks for the recovery of one order whose attempt is over or late, after a word with the runtime about that attempt. */
import { orchestrationInstanceId } from '../contracts/identifiers.js';
import type { SupervisorHint } from '../contracts/supervisor-hint.js';
import { TransientError } from '../state/errors.js';
import { nextAction } from '../state/next-action.js';
import { findWorkflow } from '../state/order-workflow.js';
import type { InstanceState } from '../state/ports.js';
import { recover } from '../state/recovery-transitions.js';
import { isTerminal } from '../state/state-record.js';
import type { StateRecord } from '../state/state-record.js';
import { applyTransition } from '../status/apply-transition.js';
import type { SupervisorDeps } from './supervisor-run.js';

/** `renewed`: the attempt got more time. `lost`: it went on meanwhile, or somebody else was faster. */
export type RecoveryOutcome = 'recovered' | 'renewed' | 'lost';

/**
 * Recovers the order if its attempt is over or its time is up.
 *
 * @param known what is known of the attempt already; otherwise the runtime is asked
 * @throws TransientError when the store or the runtime cannot answer: then nothing is counted against the order
 */
export async function recoverOrder(
  record: StateRecord,
  deps: SupervisorDeps,
  known?: InstanceState,
): Promise<RecoveryOutcome> {
  const { orderId, attempt, lockedBy, completeBy } = record;
  if (lockedBy === null) return 'lost';
  const instanceId = orchestrationInstanceId(orderId, attempt);
  const instance = known ?? (await deps.orchestrations.instanceState(instanceId));
  const result = await applyTransition(deps, orderId, recover, {
    observedLockedBy: lockedBy,
    observedCompleteBy: completeBy,
    instance,
    workflow: findWorkflow(record.workflowVersion),
    policy: deps.policy,
    jitter: deps.random(),
  });
  if (result.kind !== 'applied') return 'lost';
  report(record, result.record, instance, deps);
  const isRenewed = result.record.lockedBy !== null && !isTerminal(result.record);
  if (isRenewed) return 'renewed';
  if (instance === 'underWay') await terminate(instanceId, deps);
  return 'recovered';
}

/** Recovers the order that a hint names. A hint for an attempt that is no longer the present one is outdated. */
export async function recoverHinted(hint: SupervisorHint, deps: SupervisorDeps): Promise<void> {
  const seen = await deps.store.getLatest(hint.orderId);
  if (seen === undefined || isOutdated(hint, seen.record)) return;
  await recoverOrder(seen.record, deps, hint.ending);
}

function isOutdated({ requestId }: SupervisorHint, record: StateRecord): boolean {
  if (requestId === undefined) return false;
  const action = nextAction(record);
  return action.kind !== 'dispatch' || action.requestId !== requestId;
}

function report(before: StateRecord, after: StateRecord, instance: InstanceState, { telemetry }: SupervisorDeps): void {
  const { orderId, attempt } = before;
  const { processState, failureCount, compensationFailureCount } = after;
  const isCounted = failureCount > before.failureCount || compensationFailureCount > before.compensationFailureCount;
  if (isCounted) telemetry.event('attempt-expired', { orderId, attempt, processState, failureCount });
  else telemetry.event('attempt-late', { orderId, attempt, processState, instance });
}

/** The attempt would only find that it does not own the order any more: the runtime is spared that work. */
async function terminate(instanceId: string, { orchestrations }: SupervisorDeps): Promise<void> {
  try {
    await orchestrations.terminate(instanceId);
  } catch (error) {
    if (!(error instanceof TransientError)) throw error;
  }
}
