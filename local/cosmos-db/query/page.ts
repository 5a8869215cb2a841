/** What a page of a query is made from and of. */
import type { Container } from '../store/container.js';
import type { StoredDocument } from '../store/document.js';
import type { PhysicalPartition } from '../store/physical-partitions.js';
import { amountOf } from './amount.js';
import type { AccessPath, LogicalPartition } from './access-path.js';
import { chooseAccessPath } from './access-path.js';
import type { Expression, Query } from './ast.js';
import type { Continuation } from './continuation.js';
import { compileFilter } from './evaluate.js';
import type { ResumeFilter } from './resume-filter.js';
import type { Scope } from './scope.js';
import type { JsonObject } from './values.js';

export interface PageRequest {
  readonly container: Container;
  readonly query: Query;
  readonly scope: Scope;
  /** In the order they are asked. */
  readonly partitions: readonly PhysicalPartition[];
  readonly logicalPartition?: LogicalPartition;
  readonly maxItems: number;
  readonly from?: Continuation;
  readonly resume?: ResumeFilter;
}

/** What the page cost. */
export interface PageWork {
  loaded: number;
  loadedBytes: number;
  scanned: number;
  indexEntries: number;
  partitions: number;
  outputBytes: number;
}

export interface Page {
  /** The results as JSON texts. */
  readonly items: readonly string[];
  readonly next?: Continuation;
  /** True when equal results came in descending order of their `_rid`s. */
  readonly isReversed?: boolean;
  readonly work: Readonly<PageWork>;
}

export function newWork(): PageWork {
  return { loaded: 0, loadedBytes: 0, scanned: 0, indexEntries: 0, partitions: 0, outputBytes: 0 };
}

/** How the documents of a query are found and filtered. */
export interface Source {
  readonly path: AccessPath;
  readonly hasFilter: boolean;
  readonly filter: (document: JsonObject) => boolean;
  readonly isVisible: (document: StoredDocument) => boolean;
}

/** Chooses the access path and compiles what the index leaves to check. */
export function createSource({ container, query, scope, logicalPartition }: PageRequest): Source {
  const path = chooseAccessPath(container, query, scope, logicalPartition);
  const residual = path.residual.reduce<Expression | undefined>(
    (left, right) => (left === undefined ? right : { kind: 'binary', operator: 'AND', left, right }),
    undefined,
  );
  return {
    path,
    hasFilter: residual !== undefined,
    filter: compileFilter(residual, scope),
    isVisible: (document) => document.expiresAt > scope.now,
  };
}

/** Reads a document for the query. */
export function load(document: StoredDocument, work: PageWork, path: AccessPath): JsonObject {
  countLoaded(document, work, path);
  return JSON.parse(document.body) as JsonObject;
}

/** Counts a document as read, whether or not its text has to be parsed. */
export function countLoaded(document: StoredDocument, work: PageWork, path: AccessPath): void {
  work.loaded += 1;
  work.loadedBytes += document.size;
  if (!path.seeks) work.scanned += 1;
}

/** How many results to skip, and to yield then; Infinity without a limit. */
export interface Window {
  readonly toSkip: number;
  readonly toYield: number;
}

/** The window of the whole query, or what an earlier page left of it. */
export function windowOf({ query, scope, from }: PageRequest): Window {
  if (from !== undefined) return { toSkip: from.toSkip, toYield: from.toYield ?? Infinity };
  if (query.top !== undefined) return { toSkip: 0, toYield: amountOf(query.top, scope) };
  if (query.limit === undefined) return { toSkip: 0, toYield: Infinity };
  return { toSkip: amountOf(query.limit.offset, scope), toYield: amountOf(query.limit.count, scope) };
}
