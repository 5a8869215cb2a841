/**
 * The state store over the Cosmos DB container `order-state`: id = partition key = orderId (R76).
 *
 * Invariants
 * C1 Every change is one replace with If-Match (I1); a batch or a patch is not needed, so any emulator will do.
 * C2 The remembered versions are a hint: a stale one costs a conflict and a read, nothing more.
 */
import type { Container, Database, SqlQuerySpec } from '@azure/cosmos';
import { toTimestamp } from '../contracts/timestamp.js';
import type { Timestamp } from '../contracts/timestamp.js';
import { PermanentError } from '../state/errors.js';
import { readStateRecord } from '../state/read-record.js';
import type { ReadRecord } from '../state/read-record.js';
import type { RecordPage, ReplaceResult, StateStore, UnreadableRecord, VersionedRecord } from '../state/ports.js';
import { terminalStates } from '../state/state-record.js';
import type { StateRecord } from '../state/state-record.js';
import { cosmosError, isConflict, statusCodeOf } from './errors.js';
import { readItem } from './read-item.js';
import { createRecentMap } from './recent-map.js';
import {
  changedQuery,
  countNotBegunQuery,
  countOwnedQuery,
  countQuery,
  expiredQuery,
  pendingQuery,
  unsentQuery,
  withoutDeadlineQuery,
} from './state-queries.js';

const containerName = 'order-state';

/** Settings of the store. */
export interface StateStoreOptions {
  /** How long a record is kept after its order has ended well or been undone. */
  readonly retentionDays: number;
  /** How long it is kept after automation or an operator has given the order up. */
  readonly unresolvedRetentionDays: number;
  /** How many versions are remembered. */
  readonly rememberedRecords?: number;
}

/** Creates the state store. */
export function createCosmosStateStore(database: Database, options: StateStoreOptions): StateStore {
  const container = database.container(containerName);
  const recent = createRecentMap<VersionedRecord>(options.rememberedRecords ?? 5_000);
  const remember = (versioned: VersionedRecord): VersionedRecord => recent.set(versioned.record.orderId, versioned);

  /** A page is read to change its records: their versions are at hand then, unless newer ones are. */
  const noted = async function* (scan: AsyncIterable<RecordPage>): AsyncGenerator<RecordPage> {
    for await (const page of scan) {
      for (const seen of page.records) if (recent.get(seen.record.orderId) === undefined) remember(seen);
      yield page;
    }
  };

  const getLatest = async (orderId: string): Promise<VersionedRecord | undefined> => {
    const versioned = await readRecord(container, orderId);
    return versioned === undefined ? undefined : remember(versioned);
  };

  return {
    createIfAbsent: async (record) => {
      try {
        const { etag } = await container.items.create(record);
        remember({ record, etag });
        return 'created';
      } catch (error) {
        if (statusCodeOf(error) === 409) return 'exists';
        throw cosmosError(error);
      }
    },
    remembered: (orderId) => recent.get(orderId),
    get: async (orderId) => recent.get(orderId) ?? (await getLatest(orderId)),
    getLatest,
    replaceIfUnchanged: async (record, etag) => {
      const result = await replace(container, record, { etag, ttl: timeToLive(record, options) });
      if (result.kind === 'replaced') remember(result.versioned);
      else recent.delete(record.orderId);
      return result;
    },
    count: (state) => countRecords(container, countQuery(state)),
    countOwned: (state) => countRecords(container, countOwnedQuery(state)),
    countNotBegun: () => countRecords(container, countNotBegunQuery()),
    pagePending: (query) => noted(pages(container, pendingQuery(query), query)),
    pageExpired: (query) => noted(pages(container, expiredQuery(query), { ...query, orderedBy: 'completeBy' })),
    pageWithoutDeadline: (state, unchangedSince, pageSize) =>
      pages(container, withoutDeadlineQuery(state, unchangedSince), { pageSize }),
    pageChanged: (since, pageSize) => pages(container, changedQuery(since), { pageSize, orderedBy: '_ts' }),
    pageUnsent: (query) => pages(container, unsentQuery(terminalStates, query), { ...query, orderedBy: 'outboxSince' }),
  };
}

async function readRecord(container: Container, orderId: string): Promise<VersionedRecord | undefined> {
  const document = await readItem(container, orderId, orderId);
  if (document === undefined) return undefined;
  const { read, etag } = readDocument(document);
  if (read.kind === 'record') return { record: read.record, etag };
  const code = read.kind === 'newer' ? 'NewerRecord' : 'MalformedRecord';
  throw new PermanentError(code, `record ${orderId}: ${read.problem}`);
}

const neverExpires = -1;
const secondsPerDay = 86_400;

/** Cosmos DB deletes an item `ttl` seconds after its last change. An order that is not finished is kept. */
function timeToLive(
  { processState }: StateRecord,
  { retentionDays, unresolvedRetentionDays }: StateStoreOptions,
): number {
  switch (processState) {
    case 'Processed':
    case 'Compensated':
      return retentionDays * secondsPerDay;
    case 'Error':
    case 'CompensationFailed':
      return unresolvedRetentionDays * secondsPerDay;
    case 'Pending':
    case 'Processing':
    case 'Compensating':
      return neverExpires;
  }
}

async function replace(
  container: Container,
  record: StateRecord,
  { etag, ttl }: { readonly etag: string; readonly ttl: number },
): Promise<ReplaceResult> {
  try {
    const accessCondition = { type: 'IfMatch', condition: etag };
    const response = await container
      .item(record.orderId, record.orderId)
      .replace({ ...record, ttl }, { accessCondition });
    return { kind: 'replaced', versioned: { record, etag: response.etag }, requestCharge: response.requestCharge };
  } catch (error) {
    if (isConflict(error)) return { kind: 'conflict' };
    throw cosmosError(error);
  }
}

async function countRecords(container: Container, query: SqlQuerySpec): Promise<number> {
  try {
    const { resources } = await container.items.query<number>(query).fetchAll();
    return resources[0] ?? 0;
  } catch (error) {
    throw cosmosError(error);
  }
}

interface Paging {
  readonly pageSize: number;
  /** The time by which the documents come, if they come in an order that a later scan may go on in. */
  readonly orderedBy?: 'completeBy' | 'outboxSince' | '_ts';
}

/** One iterator for the whole scan: ordered pages over several partitions carry no continuation token. */
async function* pages(
  container: Container,
  query: SqlQuerySpec,
  { pageSize, orderedBy }: Paging,
): AsyncGenerator<RecordPage> {
  // What a page shows is checked again by the write that follows from it: it may be older than a point read, for half the price.
  const iterator = container.items.query<unknown>(query, { maxItemCount: pageSize, consistencyLevel: 'Session' });
  try {
    while (iterator.hasMoreResults()) {
      yield toPage(await iterator.fetchNext(), orderedBy);
    }
  } catch (error) {
    throw cosmosError(error);
  }
}

/** An answer to a query; an empty one has no resources at all, whatever the SDK's type says. */
interface QueryAnswer {
  readonly resources?: readonly unknown[];
  readonly requestCharge: number;
}

function toPage({ resources = [], requestCharge }: QueryAnswer, orderedBy: Paging['orderedBy']): RecordPage {
  const records: VersionedRecord[] = [];
  const unreadable: UnreadableRecord[] = [];
  for (const document of resources) {
    const { read, etag } = readDocument(document);
    if (read.kind === 'record') records.push({ record: read.record, etag });
    else unreadable.push(read);
  }
  return { records, unreadable, requestCharge, last: lastTime(resources, orderedBy) };
}

function lastTime(documents: readonly unknown[], orderedBy: Paging['orderedBy']): Timestamp | undefined {
  if (orderedBy === undefined) return undefined;
  const time = (documents.at(-1) as Readonly<Record<string, unknown>> | undefined)?.[orderedBy];
  if (orderedBy === '_ts') return typeof time === 'number' ? toTimestamp(new Date(time * 1000)) : undefined;
  return typeof time === 'string' ? time : undefined;
}

const systemProperties: readonly string[] = ['_rid', '_self', '_attachments', '_ts', 'ttl'];

/** System properties of the service do not belong to the record; `_etag` is its version. */
function readDocument(document: unknown): { readonly read: ReadRecord; readonly etag: string } {
  const { _etag, ...stored } = document as Record<string, unknown>;
  const fields = Object.fromEntries(Object.entries(stored).filter(([name]) => !systemProperties.includes(name)));
  return { read: readStateRecord(fields), etag: String(_etag) };
}
