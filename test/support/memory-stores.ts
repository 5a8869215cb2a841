/**
 * In-memory stores with ETags. Several state stores over one {@link MemoryStateDatabase} behave like several processes:
 * each remembers what it last saw, which may be stale. Held to the same contract as the real ones (test/contract).
 */
import type { Order } from '../../functions/contracts/order.js';
import type { Timestamp } from '../../functions/contracts/timestamp.js';
import type {
  Clock,
  OrdersDatabase,
  RecordPage,
  StateStore,
  UnreadableRecord,
  VersionedRecord,
} from '../../functions/state/ports.js';
import { PermanentError } from '../../functions/state/errors.js';
import { readStateRecord } from '../../functions/state/read-record.js';
import { stateRecordSchema, terminalStates } from '../../functions/state/state-record.js';
import type { StateRecord } from '../../functions/state/state-record.js';
import { createManualClock } from './manual-clock.js';

type Document = Readonly<Record<string, unknown>>;

interface StoredDocument {
  readonly document: Document;
  readonly etag: string;
  readonly changedAt: Timestamp;
}

/** What all processes share: the stored documents by id. */
export interface MemoryStateDatabase {
  readonly documents: Map<string, StoredDocument>;
  /** The documents as they were before the newest writes, `writes` of them: what a replica shows that is behind. */
  before(writes: number): ReadonlyMap<string, StoredDocument>;
  /** Stores any document as it is, valid or not. */
  put(document: Document & { readonly id: string }): void;
  /** The stored record of an order; fails when there is none. */
  record(orderId: string): StateRecord;
}

/** Creates an empty database; `clock` tells when a document was last written. */
export function createMemoryStateDatabase(clock: Clock = createManualClock()): MemoryStateDatabase {
  const documents = new Map<string, StoredDocument>();
  const replaced: (readonly [id: string, before: StoredDocument | undefined])[] = [];
  return {
    documents,
    before: (writes) => (writes === 0 ? documents : rewound(documents, replaced.slice(-writes))),
    put: (document) => {
      replaced.push([document.id, documents.get(document.id)]);
      const etag = `"${replaced.length}"`;
      documents.set(document.id, { document: structuredClone(document), etag, changedAt: clock.now() });
    },
    record: (orderId) => stateRecordSchema.parse(documents.get(orderId)?.document),
  };
}

/** By how many writes the next read is behind; 0: it sees every write. */
export type Staleness = () => number;

const upToDate: Staleness = () => 0;

/** What a map held before these changes, each with the value that it replaced. */
function rewound<Value>(
  current: ReadonlyMap<string, Value>,
  changes: readonly (readonly [key: string, before: Value | undefined])[],
): ReadonlyMap<string, Value> {
  const earlier = new Map(current);
  for (const [key, before] of [...changes].reverse()) {
    if (before === undefined) earlier.delete(key);
    else earlier.set(key, before);
  }
  return earlier;
}

/** A state store of one process over the shared database. Its reads and pages may be stale, its writes never are. */
export function createMemoryStateStore(
  database: MemoryStateDatabase = createMemoryStateDatabase(),
  staleness: Staleness = upToDate,
): StateStore {
  const { documents } = database;
  const recent = new Map<string, VersionedRecord>();
  const remember = (versioned: VersionedRecord): VersionedRecord => {
    recent.set(versioned.record.orderId, versioned);
    return versioned;
  };
  const write = (record: StateRecord): VersionedRecord => {
    database.put(record);
    return remember({ record, etag: documents.get(record.orderId)?.etag ?? '' });
  };
  const getLatest = (orderId: string): VersionedRecord | undefined => {
    const stored = database.before(staleness()).get(orderId);
    if (stored === undefined) return undefined;
    const read = readStateRecord(stored.document);
    if (read.kind !== 'record') throw new PermanentError('UnreadableRecord', read.problem);
    return remember({ record: read.record, etag: stored.etag });
  };
  const select = (
    matches: (document: Document) => boolean,
    orderBy: string,
    pageSize: number,
  ): AsyncIterable<RecordPage> => {
    const writesBehind = staleness();
    const found = [...database.before(writesBehind).values()].filter(({ document }) => matches(document));
    const now = ({ document }: StoredDocument): readonly StoredDocument[] => {
      const present = database.before(writesBehind).get(String(document['id']));
      return present !== undefined && matches(present.document) ? [present] : [];
    };
    return pages(found, { orderBy, pageSize, now });
  };

  return {
    createIfAbsent: (record) => {
      if (documents.has(record.orderId)) return Promise.resolve('exists');
      write(record);
      return Promise.resolve('created');
    },
    remembered: (orderId) => recent.get(orderId),
    get: async (orderId) => recent.get(orderId) ?? (await Promise.resolve(getLatest(orderId))),
    getLatest: async (orderId) => Promise.resolve(getLatest(orderId)),
    replaceIfUnchanged: (record, etag) => {
      const isUnchanged = documents.get(record.orderId)?.etag === etag;
      if (isUnchanged) return Promise.resolve({ kind: 'replaced', versioned: write(record), requestCharge: 1 });
      recent.delete(record.orderId);
      return Promise.resolve({ kind: 'conflict' });
    },
    count: (state) =>
      Promise.resolve([...documents.values()].filter(({ document }) => document['processState'] === state).length),
    countOwned: (state) => {
      const owned = [...documents.values()].filter(({ document }) => !isFree(document));
      return Promise.resolve(owned.filter(({ document }) => document['processState'] === state).length);
    },
    countNotBegun: () =>
      Promise.resolve(
        [...documents.values()].filter(({ document }) => typeof document['notBegunSince'] === 'string').length,
      ),
    pagePending: ({ state, priority, notBefore, pageSize }) => {
      const isWanted = (it: Document): boolean => priority === undefined || it['priority'] === priority;
      const isDue = (it: Document): boolean => isFree(it) && isAtMost(it['notBefore'], notBefore);
      return select((it) => it['processState'] === state && isWanted(it) && isDue(it), 'notBefore', pageSize);
    },
    pageExpired: ({ state, completeBefore, completeFrom, pageSize }) => {
      const isExpired = ({ completeBy }: Document): boolean =>
        isBefore(completeBy, completeBefore) && (completeFrom === undefined || !isBefore(completeBy, completeFrom));
      return select((it) => it['processState'] === state && !isFree(it) && isExpired(it), 'completeBy', pageSize);
    },
    pageWithoutDeadline: (state, unchangedSince, pageSize) => {
      const isWithout = (it: Document): boolean => !isFree(it) && (it['completeBy'] ?? null) === null;
      const isOld = (it: Document): boolean => isBefore(it['updatedAt'], unchangedSince);
      return select((it) => it['processState'] === state && isWithout(it) && isOld(it), 'updatedAt', pageSize);
    },
    pageChanged: (since, pageSize) => pagesByChange(database.before(staleness()), since, pageSize),
    pageUnsent: ({ since, from, pageSize }) => {
      const states: readonly unknown[] = terminalStates;
      const isUnsent = (it: Document): boolean =>
        states.includes(it['processState']) &&
        isBefore(it['outboxSince'], since) &&
        (from === undefined || !isBefore(it['outboxSince'], from));
      return select(isUnsent, 'outboxSince', pageSize);
    },
  };
}

const isFree = ({ lockedBy }: Document): boolean => lockedBy === null || lockedBy === undefined;

async function* pagesByChange(
  documents: ReadonlyMap<string, StoredDocument>,
  since: Timestamp,
  pageSize: number,
): AsyncGenerator<RecordPage> {
  const changed = [...documents.values()].filter(({ changedAt }) => changedAt >= since);
  const sorted = changed.sort((a, b) => (a.changedAt < b.changedAt ? -1 : 1));
  for (let start = 0; start < sorted.length; start += pageSize) {
    const page = sorted.slice(start, start + pageSize);
    yield await Promise.resolve({ ...toPage(page, 'id'), last: page.at(-1)?.changedAt });
  }
}

/** As in Cosmos DB, only text compares with text. */
const isBefore = (value: unknown, limit: string): boolean => typeof value === 'string' && value < limit;
const isAtMost = (value: unknown, limit: string): boolean => typeof value === 'string' && value <= limit;

interface Paging {
  readonly orderBy: string;
  readonly pageSize: number;
  /** The document as it is now, if it still matches: each page is read when it is asked for. */
  readonly now: (stored: StoredDocument) => readonly StoredDocument[];
}

async function* pages(
  found: readonly StoredDocument[],
  { orderBy, pageSize, now }: Paging,
): AsyncGenerator<RecordPage> {
  const sorted = [...found].sort((a, b) => (String(a.document[orderBy]) < String(b.document[orderBy]) ? -1 : 1));
  for (let left = sorted.flatMap(now); left.length > 0; left = left.slice(pageSize).flatMap(now)) {
    yield await Promise.resolve(toPage(left.slice(0, pageSize), orderBy));
  }
}

function toPage(stored: readonly StoredDocument[], orderBy: string): RecordPage {
  const records: VersionedRecord[] = [];
  const unreadable: UnreadableRecord[] = [];
  for (const { document, etag } of stored) {
    const read = readStateRecord(document);
    if (read.kind === 'record') records.push({ record: read.record, etag });
    else unreadable.push(read);
  }
  const last = stored.at(-1)?.document[orderBy];
  return { records, unreadable, requestCharge: 1, last: typeof last === 'string' ? last : undefined };
}

/** An orders database in memory, as one process or all processes see it; its reads may be stale. */
export function createMemoryOrdersDatabase(staleness: Staleness = upToDate): OrdersDatabase {
  const orders = new Map<string, Order>();
  const created: (readonly [orderId: string, before: undefined])[] = [];
  const visible = (): ReadonlyMap<string, Order> => {
    const writesBehind = staleness();
    return writesBehind === 0 ? orders : rewound(orders, created.slice(-writesBehind));
  };
  return {
    createIfAbsent: (order) => {
      const stored = orders.get(order.orderId);
      if (stored !== undefined) return Promise.resolve({ created: false, stored });
      created.push([order.orderId, undefined]);
      orders.set(order.orderId, structuredClone(order));
      return Promise.resolve({ created: true, stored: order });
    },
    get: (orderId) => Promise.resolve(visible().get(orderId)),
  };
}
