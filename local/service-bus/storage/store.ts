/**
 * The queues, kept durable: what an operation records is appended to the journal as one group.
 *
 * Invariants
 * P1 `commit` resolves when everything recorded before it is durable; an answer to a client comes after that.
 * P2 The queues change before the append, so that a snapshot made meanwhile never lacks an acknowledged change.
 */
import { openJournal, type Journal } from '../../journal/index.js';
import type { QueueSettings } from '../config/queue-settings.js';
import type { QueueRecord } from '../queue/message.js';
import { Namespace, type NamespaceEvents } from '../queue/namespace.js';
import type { Queue } from '../queue/queue.js';
import { decodeGroup, encodeGroup } from './record-codec.js';

/** How the queues are opened. */
export interface StoreOptions {
  readonly directory: string;
  readonly fsync: 'never' | 'always';
  readonly queues: readonly QueueSettings[];
  readonly events: Omit<NamespaceEvents, 'record'>;
  readonly now: () => number;
  /** When the journal is compacted; absent: as the journal thinks right. */
  readonly compactAfterBytes?: number;
  readonly onFailure?: ((error: Error) => void) | undefined;
}

/** The queues with their journal. */
export interface Store {
  readonly namespace: Namespace;
  /** Makes what was recorded since the last commit durable (P1). */
  commit(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the queues as the journal left them. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { directory, fsync, compactAfterBytes, onFailure } = options;
  let pending: QueueRecord[] = [];
  const record = (entry: QueueRecord): void => {
    pending.push(entry);
  };
  const namespace = new Namespace(options.queues, { ...options.events, record });
  const orphans = new Map<string, Set<number>>();
  const journal = await openJournal({
    directory,
    fsync,
    onFailure,
    ...(compactAfterBytes === undefined ? {} : { compactAfterBytes }),
    replay: (group) => {
      for (const entry of decodeGroup(group)) replay(namespace, orphans, entry);
    },
    snapshot: () => snapshot(namespace, options.now()),
  });
  const commit = (): Promise<void> => {
    if (pending.length === 0) return Promise.resolve();
    const group = encodeGroup(pending);
    pending = [];
    return journal.append(group);
  };
  try {
    refuseOrphans(orphans, directory);
    for (const queue of namespace.queues()) queue.indexAll();
    for (const queue of namespace.queues()) queue.giveUpExhausted(options.now());
    await commit();
  } catch (error) {
    await journal.close();
    throw error;
  }
  return { namespace, commit, close: () => closeStore(journal, commit) };
}

async function closeStore(journal: Journal, commit: () => Promise<void>): Promise<void> {
  await commit();
  await journal.close();
}

function replay(namespace: Namespace, orphans: Map<string, Set<number>>, record: QueueRecord): void {
  const queue = namespace.find(record.queue);
  if (queue === undefined) noteOrphan(orphans, record);
  else apply(queue, record);
}

function apply(queue: Queue, record: QueueRecord): void {
  switch (record.kind) {
    case 'put':
      queue.restore(record.message);
      return;
    case 'remove':
      queue.restoreRemoval(record.sequence);
      return;
    case 'state':
      queue.restoreState(record.sequence, record.state, record.deliveryCount);
      return;
    case 'next':
      queue.restoreNextSequence(record.sequence);
      return;
    case 'remember':
      queue.duplicates.remember(record.messageId, record.until);
  }
}

/** Keeps count of the messages of queues that the topology no longer declares. */
function noteOrphan(orphans: Map<string, Set<number>>, record: QueueRecord): void {
  const sequences = orphans.get(record.queue) ?? new Set<number>();
  orphans.set(record.queue, sequences);
  if (record.kind === 'put') sequences.add(record.message.sequence);
  if (record.kind === 'remove') sequences.delete(record.sequence);
}

function refuseOrphans(orphans: ReadonlyMap<string, ReadonlySet<number>>, directory: string): void {
  const left = [...orphans].filter(([, sequences]) => sequences.size > 0);
  if (left.length === 0) return;
  const list = left.map(([queue, sequences]) => `${queue} (${sequences.size})`).join(', ');
  throw new Error(
    `The topology does not declare queues whose messages are stored in ${directory}: ${list}. ` +
      'Declare them again and receive the messages, or delete the directory.',
  );
}

function* snapshot(namespace: Namespace, now: number): Iterable<Buffer> {
  for (const queue of namespace.queues()) {
    const { name } = queue;
    yield encodeGroup([{ kind: 'next', queue: name, sequence: queue.nextSequence }]);
    for (const [messageId, until] of queue.duplicates.entries(now)) {
      yield encodeGroup([{ kind: 'remember', queue: name, messageId, until }]);
    }
    for (const message of queue.messages()) yield encodeGroup([...messageRecords(name, message, queue.isDeadLetter)]);
  }
}

/** A locked message is stored as a failed delivery, as its lock was (Q3). */
function* messageRecords(queue: string, message: QueueMessage, isDeadLetter: boolean): Iterable<QueueRecord> {
  yield { kind: 'put', queue, message };
  if (message.lock === undefined || isDeadLetter) return;
  const { sequence, state, deliveryCount } = message;
  yield { kind: 'state', queue, sequence, state, deliveryCount: deliveryCount + 1 };
}

type QueueMessage = Extract<QueueRecord, { kind: 'put' }>['message'];
