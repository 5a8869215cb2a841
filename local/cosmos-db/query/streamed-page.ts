/**
 * Queries that yield a result for each document: page by page.
 *
 * Invariant
 * G1 A page ends at the item limit, at MAX_PAGE_BYTES or after MAX_LOADED documents, whichever comes first; so a page
 *    without results can still have a continuation.
 */
import type { StoredDocument } from '../store/document.js';
import { positionOf } from '../store/index-set.js';
import type { PhysicalPartition } from '../store/physical-partitions.js';
import type { Continuation } from './continuation.js';
import type { Page, PageRequest, PageWork, Source } from './page.js';
import { countLoaded, createSource, load, newWork, windowOf } from './page.js';
import { resumePosition } from './resume-filter.js';
import { compileSelection, distinctKey, yieldsWholeDocument } from './selection.js';
import type { Value } from './values.js';
import type { After } from './walk.js';
import { walk } from './walk.js';

const MAX_PAGE_BYTES = 4 * 1024 * 1024;
const MAX_LOADED = 20_000;

/** The result text of a document; undefined when it yields none. */
type Reader = (document: StoredDocument, work: PageWork) => string | undefined;

function createReader({ query, scope }: PageRequest, source: Source): Reader {
  const { path, filter, hasFilter } = source;
  if (yieldsWholeDocument(query.selection)) {
    return (document, work) => {
      if (hasFilter) return filter(load(document, work, path)) ? document.body : undefined;
      countLoaded(document, work, path);
      return document.body;
    };
  }
  const select = compileSelection(query.selection, scope);
  const isNew = query.distinct ? createIsNew() : () => true;
  return (document, work) => {
    const content = load(document, work, path);
    const value = filter(content) ? select(content) : undefined;
    return value === undefined || !isNew(value) ? undefined : JSON.stringify(value);
  };
}

/** DISTINCT within a page; over pages and partitions the client sees to it. */
function createIsNew(): (value: Value) => boolean {
  const seen = new Set<string>();
  return (value) => {
    const key = distinctKey(value);
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  };
}

/** Collects results inside the query's window. */
interface Collected {
  readonly items: string[];
  toSkip: number;
  toYield: number;
}

function take(collected: Collected, work: PageWork, item: string): void {
  if (collected.toSkip > 0) {
    collected.toSkip -= 1;
    return;
  }
  collected.items.push(item);
  collected.toYield -= 1;
  work.outputBytes += item.length;
}

function isFull({ items }: Collected, work: PageWork, maxItems: number): boolean {
  return items.length >= maxItems || work.outputBytes >= MAX_PAGE_BYTES || work.loaded >= MAX_LOADED;
}

/** Everything one page is collected with. */
interface Run {
  readonly source: Source;
  readonly read: Reader;
  readonly work: PageWork;
  readonly collected: Collected;
  readonly maxItems: number;
}

/** Where the page ends inside a partition; undefined when the partition is exhausted. */
type Stop = { readonly kind: 'complete' } | { readonly kind: 'full'; readonly after: After } | undefined;

function readPartition(partition: PhysicalPartition, start: After, run: Run): Stop {
  const { source, read, work, collected, maxItems } = run;
  const { order } = source.path;
  let last: StoredDocument | undefined;
  work.partitions += 1;
  for (const document of walk(partition, source.path, start)) {
    if (collected.toYield === 0) return { kind: 'complete' };
    if (isFull(collected, work, maxItems))
      return { kind: 'full', after: last === undefined ? start : positionOf(last, order) };
    last = document;
    work.indexEntries += 1;
    const item = source.isVisible(document) ? read(document, work) : undefined;
    if (item !== undefined) take(collected, work, item);
  }
  return undefined;
}

function continuationAt(partition: string, after: After, { toSkip, toYield }: Collected): Continuation {
  return {
    partition,
    toSkip,
    ...(toYield === Infinity ? {} : { toYield }),
    ...(after === undefined ? {} : { after }),
  };
}

/** Behind which place a partition's documents are wanted. */
function startIn(partition: PhysicalPartition, { from, resume }: PageRequest, { path }: Source): After {
  const isUnderWay = partition.id === from?.partition && from.after !== undefined;
  if (isUnderWay) return from.after;
  return resume === undefined ? undefined : resumePosition(resume, path.order);
}

/** Runs one page. */
export function executeStream(request: PageRequest): Page {
  const { from, partitions, maxItems } = request;
  const source = createSource(request);
  const work = newWork();
  const collected: Collected = { items: [], ...windowOf(request) };
  const run: Run = { source, read: createReader(request, source), work, collected, maxItems };
  const first = from === undefined ? 0 : partitions.findIndex(({ id }) => id === from.partition);
  for (const partition of partitions.slice(Math.max(0, first))) {
    const start = startIn(partition, request, source);
    const stop = readPartition(partition, start, run);
    if (stop?.kind === 'complete') break;
    if (stop?.kind === 'full') {
      const next = continuationAt(partition.id, stop.after, collected);
      return { items: collected.items, work, isReversed: source.path.order.tieDescending, next };
    }
  }
  return { items: collected.items, work, isReversed: source.path.order.tieDescending };
}
