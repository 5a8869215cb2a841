/**
 * Queries whose results come only when every document has been seen: aggregates, groups, DISTINCT in one partition.
 *
 * Invariant
 * V1 After MAX_SEEN_AT_ONCE documents other requests get their turn. The query goes on behind the last document it saw
 *    (W1), so one that is written meanwhile may count in its old or its new state, and no other is lost or seen twice.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { StoredDocument } from '../store/document.js';
import { positionOf } from '../store/index-set.js';
import type { PhysicalPartition } from '../store/physical-partitions.js';
import { createGrouping } from './aggregates.js';
import type { Expression } from './ast.js';
import { isConstant } from './expression-tree.js';
import type { Page, PageRequest, PageWork, Source } from './page.js';
import { createSource, load, newWork, windowOf } from './page.js';
import { compileSelection, distinctKey, selectionExpression } from './selection.js';
import type { JsonObject, Value } from './values.js';
import type { After } from './walk.js';
import { walk } from './walk.js';

const MAX_SEEN_AT_ONCE = 1_000;

/** Takes documents and yields the results at the end. */
export interface Collector {
  /** False when only the number of documents matters, as for COUNT(1). */
  readonly needsDocuments: boolean;
  add(document: JsonObject): void;
  results(): readonly Value[];
}

/** True when no aggregate looks at the document. */
function looksAtNothing(expression: Expression): boolean {
  if (expression.kind === 'aggregate') return isConstant(expression.argument);
  if (expression.kind === 'array') return expression.items.every(looksAtNothing);
  if (expression.kind === 'object') return expression.entries.every(({ value }) => looksAtNothing(value));
  return isConstant(expression);
}

/** Collects groups; without GROUP BY there is one. */
export function collectGroups({ query, scope }: PageRequest): Collector {
  const selection = selectionExpression(query.selection);
  const keys = query.groupBy.map(({ expression }) => expression);
  return { ...createGrouping(selection, keys, scope), needsDocuments: keys.length > 0 || !looksAtNothing(selection) };
}

/** Collects different results. */
export function collectDistinct({ query, scope }: PageRequest): Collector {
  const select = compileSelection(query.selection, scope);
  const seen = new Map<string, Value>();
  return {
    needsDocuments: true,
    add(document) {
      const value = select(document);
      if (value !== undefined && !seen.has(distinctKey(value))) seen.set(distinctKey(value), value);
    },
    results: () => [...seen.values()],
  };
}

/** Everything the documents are seen with. */
interface Run {
  readonly source: Source;
  readonly collector: Collector;
  readonly work: PageWork;
}

/** Sees some documents of a partition behind a place; gives the place to go on from, undefined at the end. */
function seeSome(partition: PhysicalPartition, after: After, { source, collector, work }: Run): After {
  const { path } = source;
  const reads = source.hasFilter || collector.needsDocuments;
  const last = work.indexEntries + (path.sorts ? Infinity : MAX_SEEN_AT_ONCE); // Sorting anew would cost more than it spares.
  let seen: StoredDocument | undefined;
  for (const document of walk(partition, path, after)) {
    if (work.indexEntries >= last) return seen === undefined ? after : positionOf(seen, path.order);
    seen = document;
    work.indexEntries += 1;
    if (!source.isVisible(document)) continue;
    const content = reads ? load(document, work, path) : {};
    if (source.filter(content)) collector.add(content);
  }
  return undefined;
}

/** Sees all documents; yields where others may have their turn (V1). */
function* seeAll(request: PageRequest, run: Run): Generator<undefined, Page> {
  for (const partition of request.partitions) {
    run.work.partitions += 1;
    for (let after = seeSome(partition, undefined, run); after !== undefined;) {
      yield;
      after = seeSome(partition, after, run);
    }
  }
  return pageOf(request, run);
}

function pageOf(request: PageRequest, { collector, work }: Run): Page {
  const { toSkip, toYield } = windowOf(request);
  const results = collector.results().filter((value) => value !== undefined);
  const items = results.slice(toSkip, toSkip + toYield).map((value) => JSON.stringify(value));
  work.outputBytes = items.reduce((sum, item) => sum + item.length, 0);
  return { items, work };
}

/** Sees all documents, then yields everything in one page: at once when they are few. */
export function executeWhole(request: PageRequest, collector: Collector): Page | Promise<Page> {
  const seeing = seeAll(request, { source: createSource(request), collector, work: newWork() });
  const first = seeing.next();
  return first.done === true ? first.value : finishInTurns(seeing);
}

async function finishInTurns(seeing: Generator<undefined, Page>): Promise<Page> {
  for (;;) {
    await nextTurn();
    const step = seeing.next();
    if (step.done === true) return step.value;
  }
}
