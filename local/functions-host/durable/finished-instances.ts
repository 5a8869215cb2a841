/**
 * Finished instances, kept small: each is one text. Only the newest keep their history in memory and
 * in the journal's next snapshot; an older one still answers for its status, its input and its output.
 */
import type { HistoryEvent } from './history.js';
import { summaryOf, type Instance, type InstanceState } from './instance.js';

/** Finished instances by id. */
export interface FinishedInstances {
  add(instance: Instance): void;
  has(instanceId: string): boolean;
  get(instanceId: string): InstanceState | undefined;
  delete(instanceId: string): boolean;
  ids(): Iterable<string>;
}

interface Finished {
  /** The state without history and inbox. */
  readonly summary: string;
  history: readonly HistoryEvent[];
}

/** How many finished instances keep their history. */
export const historiesKept = 1000;

/** Creates an empty collection. */
export function createFinishedInstances(): FinishedInstances {
  const byId = new Map<string, Finished>();
  const withHistory: Finished[] = [];
  let oldest = 0;

  function forgetOldHistories(): void {
    while (withHistory.length - oldest > historiesKept) {
      const finished = withHistory[oldest];
      if (finished !== undefined) finished.history = [];
      oldest += 1;
    }
    if (oldest <= historiesKept) return;
    withHistory.splice(0, oldest);
    oldest = 0;
  }

  return {
    add(instance) {
      const finished = { summary: JSON.stringify(summaryOf(instance)), history: instance.history };
      byId.delete(instance.instanceId);
      byId.set(instance.instanceId, finished);
      withHistory.push(finished);
      forgetOldHistories();
    },
    has: (instanceId) => byId.has(instanceId),
    get(instanceId) {
      const finished = byId.get(instanceId);
      if (finished === undefined) return undefined;
      const summary = JSON.parse(finished.summary) as Omit<InstanceState, 'history'>;
      return { ...summary, history: finished.history, inbox: [], cancelledTimers: [] };
    },
    delete: (instanceId) => byId.delete(instanceId),
    ids: () => byId.keys(),
  };
}
