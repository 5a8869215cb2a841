/** Sending orders to a running app, and waiting for what becomes of them. */
import { stateRecordSchema } from '../../functions/state/state-record.js';
import type { ProcessState, StateRecord } from '../../functions/state/state-record.js';
import type { StatusKind, StatusMessage } from '../../functions/contracts/status-message.js';
import { eventually } from './app-eventually.js';
import type { Patience } from './app-eventually.js';
import type { App } from './app-stack.js';
import { orderMessage } from './builders.js';

/** Sends the message of a good order, with what the test changes in it. */
export async function submit(
  app: App,
  orderId: string,
  overrides: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  await app.send('orders', { body: orderMessage({ orderId, ...overrides }), messageId: `${orderId}.first` });
}

/** The order's record as the operator's API shows it. */
export async function showRecord(app: App, orderId: string): Promise<StateRecord> {
  const { status, json } = await app.fetch(`orders/${orderId}`);
  if (status !== 200) throw new Error(`${orderId}: HTTP ${status} ${JSON.stringify(json)}`);
  return stateRecordSchema.parse(json);
}

/** Waits until the order's record satisfies the condition. */
export async function untilRecord(
  app: App,
  orderId: string,
  condition: (record: StateRecord) => boolean,
  patience?: Patience,
): Promise<StateRecord> {
  return eventually(async () => {
    const record = await showRecord(app, orderId);
    if (condition(record)) return record;
    throw new Error(`${orderId} is not there yet: ${JSON.stringify(record, undefined, 1)}`);
  }, patience);
}

/** Waits until the order is in a state and every status has left its outbox. */
export async function untilState(
  app: App,
  orderId: string,
  processState: ProcessState,
  patience?: Patience,
): Promise<StateRecord> {
  const isThere = (record: StateRecord): boolean => record.processState === processState && record.outbox.length === 0;
  return untilRecord(app, orderId, isThere, patience);
}

/** Waits until its application has read exactly these statuses of the stored order, each once, in growing order of `seq`. */
export async function untilStatuses(
  app: App,
  orderId: string,
  kinds: readonly StatusKind[],
  patience?: Patience,
): Promise<readonly StatusMessage[]> {
  return eventually(() => {
    const seen = Object.values(app.statuses).flatMap((inbox) => inbox.of(orderId));
    const ofStored = seen.filter(({ seq }) => seq > 0); // With 0, another order of this id was not taken.
    const sorted = [...ofStored].sort((a, b) => a.seq - b.seq);
    const wanted = kinds.map((kind, index) => `${index + 1} ${kind}`);
    const found = sorted.map(({ seq, status }) => `${seq} ${status}`);
    if (found.join() === wanted.join()) return sorted;
    throw new Error(`${orderId}: statuses are ${found.join(', ') || 'none'}, expected ${wanted.join(', ')}`);
  }, patience);
}
