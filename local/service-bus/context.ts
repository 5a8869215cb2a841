/** What the parts of a running broker share. */
import type { Faults } from '../faults/index.js';
import type { AuthorizationRule } from './auth/rules.js';
import type { Clock } from './clock.js';
import type { Counters } from './counters.js';
import type { Namespace } from './queue/namespace.js';
import type { Queue } from './queue/queue.js';

export interface BrokerContext {
  readonly clock: Clock;
  readonly namespace: Namespace;
  readonly rules: readonly AuthorizationRule[];
  readonly faults: Faults;
  readonly counters: Counters;
  /** Takes a line about a connection that ends because of an error. */
  readonly log: (line: string) => void;
  /** Makes all that has been recorded durable, and sees to what `queue` has to do next by itself. */
  readonly commit: (queue: Queue) => Promise<void>;
}

/** For a commit that answers nobody: if the journal has failed, whoever uses the queues next learns it. */
export function commitUnheard(commit: Promise<void>): void {
  commit.catch(() => undefined);
}
