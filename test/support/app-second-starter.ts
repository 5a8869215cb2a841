/**
 * A second starter as another instance of the app would run it: its own state store (and memory of records) on the same
 * Cosmos DB, its own broker client, and the app's task hub.
 */
import { createCosmosStateStore } from '../../functions/azure/cosmos-state-store.js';
import { createQueueSender } from '../../functions/azure/service-bus-sender.js';
import { startPending } from '../../functions/scheduler/start-pending.js';
import type { StarterDeps, StarterRun } from '../../functions/scheduler/start-pending.js';
import type { App } from './app-stack.js';

/** Runs the second starter once. */
export function runSecondStarter(app: App): Promise<StarterRun> {
  return startPending(1_000, {
    store: createCosmosStateStore(app.database, { retentionDays: 30, unresolvedRetentionDays: 30 }),
    sender: createQueueSender(() => app.bus),
    orchestrations: orchestrationsOf(app),
    random: Math.random,
    debt: { toNormal: 0 },
    clock: { now: () => new Date().toISOString() },
    telemetry: { event: () => undefined, alert: () => undefined },
    policy: {
      claimLeaseMs: 60_000,
      releaseBackoffMs: 1_000,
      pageSize: 5,
      maxPerRun: 1_000,
      concurrency: 4,
      normalShare: 0.2,
    },
  });
}

function orchestrationsOf(app: App): StarterDeps['orchestrations'] {
  const exists = async (instanceId: string): Promise<boolean> => (await app.instance(instanceId)) !== undefined;
  return {
    instanceState: async (instanceId) => ((await exists(instanceId)) ? 'underWay' : 'unknown'),
    start: async (instanceId, input) => {
      const isStarted = await app.startInstance('orderOrchestrator', instanceId, input);
      return isStarted || (await exists(instanceId)) ? 'started' : 'refused';
    },
  };
}
