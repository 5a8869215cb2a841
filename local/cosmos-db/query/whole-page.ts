/** Queries whose results come only when every document has been seen: aggregates, groups, DISTINCT in one partition. */
import { createGrouping } from './aggregates.js';
import type { Expression } from './ast.js';
import { isConstant } from './expression-tree.js';
import type { Page, PageRequest } from './page.js';
import { createSource, load, newWork, windowOf } from './page.js';
import { compileSelection, distinctKey, selectionExpression } from './selection.js';
import type { JsonObject, Value } from './values.js';
import { walk } from './walk.js';

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

/** Sees all documents, then yields everything in one page. */
export function executeWhole(request: PageRequest, collector: Collector): Page {
  const source = createSource(request);
  const work = newWork();
  const reads = source.hasFilter || collector.needsDocuments;
  for (const partition of request.partitions) {
    work.partitions += 1;
    for (const document of walk(partition, source.path, undefined)) {
      work.indexEntries += 1;
      if (!source.isVisible(document)) continue;
      const content = reads ? load(document, work, source.path) : {};
      if (source.filter(content)) collector.add(content);
    }
  }
  const { toSkip, toYield } = windowOf(request);
  const results = collector.results().filter((value) => value !== undefined);
  const items = results.slice(toSkip, toSkip + toYield).map((value) => JSON.stringify(value));
  work.outputBytes = items.reduce((sum, item) => sum + item.length, 0);
  return { items, work };
}
