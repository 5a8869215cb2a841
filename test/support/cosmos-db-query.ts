/** Runs queries over documents without a server. */
import type { SqlParameter } from '@azure/cosmos';
import { executePage } from '../../local/cosmos-db/query/execute.js';
import type { Continuation } from '../../local/cosmos-db/query/continuation.js';
import { decodeContinuation, encodeContinuation } from '../../local/cosmos-db/query/continuation.js';
import { parseQuery } from '../../local/cosmos-db/query/parser.js';
import type { PageWork } from '../../local/cosmos-db/query/page.js';
import type { Json, JsonObject } from '../../local/cosmos-db/query/values.js';
import type { Container } from '../../local/cosmos-db/store/container.js';
import { createContainer } from '../../local/cosmos-db/store/container.js';
import { readDefinition } from '../../local/cosmos-db/store/definition.js';

export const everythingIndexed: Json = { includedPaths: [{ path: '/*' }], excludedPaths: [] };
export const nothingIndexed: Json = { includedPaths: [], excludedPaths: [{ path: '/*' }] };

/** A container in memory alone. */
export function memoryContainer(indexingPolicy: Json, partitions = 1): Container {
  const definition = readDefinition(
    { database: 'db', properties: { id: 'c', partitionKey: '/id', indexingPolicy }, nameProperty: 'id' },
    [],
  );
  return createContainer(definition, 'AQAAAIMAAAA=', partitions);
}

/** Stores documents, or new versions of them. */
export function store(container: Container, documents: readonly JsonObject[]): void {
  for (const document of documents) {
    const id = document['id'] as string;
    const known = container.find(id, id);
    const sequence = known?.sequence ?? container.counters.takeSequence();
    const lsn = container.counters.takeLsn();
    const version = { body: JSON.stringify(document), etag: '"e"', lsn, timestamp: 0, expiresAt: Infinity };
    container.put({ id, partitionKey: id, sequence }, version, document);
  }
}

export interface QueryRun {
  readonly results: Json[];
  readonly pages: number;
  readonly work: Readonly<PageWork>;
}

export interface QueryRunOptions {
  readonly parameters?: readonly SqlParameter[];
  readonly maxItems?: number;
  /** Called between two pages. */
  readonly afterPage?: (results: readonly Json[]) => void;
}

/**
 * Runs a query to its end, over each physical partition in turn, through written-down continuation tokens. Only for
 * queries that see few documents, which end in one turn.
 */
export function runQuery(container: Container, text: string, options: QueryRunOptions = {}): QueryRun {
  const query = parseQuery(text);
  const parameters = Object.fromEntries((options.parameters ?? []).map(({ name, value }) => [name, value as Json]));
  const scope = { parameters, now: Date.UTC(2026, 0, 1) };
  const results: Json[] = [];
  const work: PageWork = { loaded: 0, loadedBytes: 0, scanned: 0, indexEntries: 0, partitions: 0, outputBytes: 0 };
  let pages = 0;
  let from: Continuation | undefined;
  do {
    const page = executePage({
      container,
      query,
      scope,
      partitions: container.partitions,
      maxItems: options.maxItems ?? 1000,
      ...(from === undefined ? {} : { from }),
    });
    if (page instanceof Promise) throw new Error('The query sees too many documents for this helper.');
    const found = page.items.map((item) => JSON.parse(item) as Json);
    results.push(...found);
    pages += 1;
    for (const name of Object.keys(work) as (keyof PageWork)[]) work[name] += page.work[name];
    from = page.next === undefined ? undefined : decodeContinuation('f', encodeContinuation('f', page.next));
    options.afterPage?.(found);
  } while (from !== undefined);
  return { results, pages, work };
}
