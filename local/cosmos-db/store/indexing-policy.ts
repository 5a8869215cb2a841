/**
 * Reads an indexing policy: which paths an index may serve. What the service would refuse is refused, so that a policy that
 * is accepted here also deploys.
 */
import type { Json, JsonObject } from '../query/values.js';
import { isArray, isObject } from '../query/values.js';

/** A path from the document's root and its direction in an index. */
export interface IndexPath {
  readonly path: readonly string[];
  readonly descending: boolean;
}

export interface IndexingPolicy {
  /** The policy as the service returns it: complete, with its own spellings. */
  readonly json: JsonObject;
  /** True when the scalar at the path has a range index. */
  isIndexed(path: readonly string[]): boolean;
  readonly composites: readonly (readonly IndexPath[])[];
  /** The paths named without a wildcard. */
  readonly namedPaths: readonly (readonly string[])[];
}

/** Limits of the service (learn.microsoft.com/azure/cosmos-db/concepts-limits). */
const MAX_PATHS = 1500;
const MAX_COMPOSITES = 100;
const MAX_COMPOSITE_PATHS = 8;

const ROOT = '/*';
const ETAG = '/"_etag"/?';
const ALWAYS_INDEXED: readonly string[] = ['id', '_ts'];
const REFUSED_INDEXES: readonly string[] = ['vectorIndexes', 'fullTextIndexes'];

/** The property names of `/a/"b c"/?`; wildcards stay as they are. */
export function pathSegments(path: string): readonly string[] {
  const segments = path.match(/"(?:[^"\\]|\\.)*"|[^/]+/g) ?? [];
  return segments.map((segment) => (segment.startsWith('"') ? (JSON.parse(segment) as string) : segment));
}

/** `/` is the older form of the root path. */
function rootPath(path: Json | undefined): Json | undefined {
  return path === '/' ? ROOT : path;
}

/** The list under `property`, its entries as objects with a `path`; empty where it is missing or no list. */
function readPaths(policy: JsonObject, property: 'includedPaths' | 'excludedPaths', problems: string[]): JsonObject[] {
  const list = policy[property] ?? [];
  if (!isArray(list)) {
    problems.push(`indexingPolicy.${property} is no array`);
    return [];
  }
  if (list.length > MAX_PATHS) problems.push(`indexingPolicy.${property} has more than ${MAX_PATHS} paths`);
  return list.flatMap((entry) => {
    const path = isObject(entry) ? rootPath(entry['path']) : undefined;
    if (typeof path === 'string' && /^\/.*[?*]$/.test(path)) return [{ ...(entry as JsonObject), path }];
    problems.push(
      `indexingPolicy.${property} has a path that does not start with / and end with ? or *: ${JSON.stringify(entry)}`,
    );
    return [];
  });
}

function pathOf(entry: JsonObject): string {
  return entry['path'] as string;
}

interface Paths {
  readonly included: readonly JsonObject[];
  readonly excluded: readonly JsonObject[];
}

/** Everything is indexed where a policy names no path, and `_etag` is not, unless the policy names it. */
function completePaths({ included, excluded }: Paths): Paths {
  const isEmpty = included.length === 0 && excluded.length === 0;
  const all = isEmpty ? [{ path: ROOT }] : included;
  const isEtagNamed = [...included, ...excluded].some((entry) => pathSegments(pathOf(entry))[0] === '_etag');
  const indexesTheRest = all.some((entry) => pathOf(entry) === ROOT);
  return { included: all, excluded: indexesTheRest && !isEtagNamed ? [...excluded, { path: ETAG }] : excluded };
}

function checkPaths({ included, excluded }: Paths, problems: string[]): void {
  const paths = [...included, ...excluded].map(pathOf);
  if (!paths.includes(ROOT)) {
    problems.push(
      'indexingPolicy: The special mandatory indexing path "/" is not provided in any of the path type sets. Please provide this path in one of the sets',
    );
  }
  const repeated = paths.find((path, index) => paths.indexOf(path) !== index);
  if (repeated !== undefined) problems.push(`indexingPolicy names the path ${repeated} twice`);
}

interface PathRule {
  readonly segments: readonly string[];
  /** `/*` covers everything below, `/?` the scalar alone. */
  readonly wildcard: boolean;
  readonly included: boolean;
}

function rulesOf({ included, excluded }: Paths): readonly PathRule[] {
  const toRule = (entry: JsonObject, isIncluded: boolean): PathRule => {
    const path = pathOf(entry);
    return { segments: pathSegments(path).slice(0, -1), wildcard: path.endsWith('*'), included: isIncluded };
  };
  return [...included.map((entry) => toRule(entry, true)), ...excluded.map((entry) => toRule(entry, false))];
}

function covers(rule: PathRule, path: readonly string[]): boolean {
  const isPrefix = rule.segments.every((segment, index) => segment === path[index]);
  return isPrefix && (rule.wildcard || rule.segments.length === path.length);
}

function readCompositePath(entry: Json, problems: string[]): readonly IndexPath[] {
  const path = isObject(entry) ? entry['path'] : undefined;
  const order = isObject(entry) ? lowerCase(entry['order'] ?? 'ascending') : undefined;
  if (typeof path === 'string' && /^\/.*[^/?*]$/.test(path) && (order === 'ascending' || order === 'descending')) {
    return [{ path: pathSegments(path), descending: order === 'descending' }];
  }
  problems.push(
    `indexingPolicy.compositeIndexes has an entry whose path is not like "/a/b", or with a bad order: ${JSON.stringify(entry)}`,
  );
  return [];
}

function readComposites(value: Json | undefined, problems: string[]): readonly (readonly IndexPath[])[] {
  if (value === undefined) return [];
  if (!isArray(value)) {
    problems.push('indexingPolicy.compositeIndexes is no array');
    return [];
  }
  if (value.length > MAX_COMPOSITES)
    problems.push(`indexingPolicy.compositeIndexes has more than ${MAX_COMPOSITES} indexes`);
  return value.map((composite) => {
    const entries = isArray(composite) ? composite : [];
    if (entries.length < 2 || entries.length > MAX_COMPOSITE_PATHS) {
      problems.push(`indexingPolicy.compositeIndexes has an index of fewer than two or more than eight paths`);
    }
    return entries.flatMap((entry) => readCompositePath(entry, problems));
  });
}

/** Clients differ in how they write the service's words. */
function lowerCase(value: Json | undefined): Json | undefined {
  return typeof value === 'string' ? value.toLowerCase() : value;
}

function checkSupport(policy: JsonObject, problems: string[]): void {
  const mode = lowerCase(policy['indexingMode'] ?? 'consistent');
  if (mode !== 'consistent') {
    problems.push(`indexingPolicy.indexingMode is ${JSON.stringify(mode)}; only "consistent" is supported`);
  }
  if (policy['automatic'] !== undefined && policy['automatic'] !== true) {
    problems.push('indexingPolicy.automatic other than true is not supported by the embedded Cosmos DB');
  }
  for (const property of REFUSED_INDEXES) {
    const indexes = policy[property];
    if (isArray(indexes) && indexes.length > 0) {
      problems.push(`indexingPolicy.${property} is not supported by the embedded Cosmos DB`);
    }
  }
}

/** Reads a policy as JSON; adds to `problems` what is wrong with it. */
export function readIndexingPolicy(policy: Json, problems: string[]): IndexingPolicy {
  const given = isObject(policy) ? policy : {};
  if (given !== policy) problems.push('indexingPolicy is no object');
  checkSupport(given, problems);
  const paths = completePaths({
    included: readPaths(given, 'includedPaths', problems),
    excluded: readPaths(given, 'excludedPaths', problems),
  });
  checkPaths(paths, problems);
  const rules = rulesOf(paths);
  const composites = readComposites(given['compositeIndexes'], problems);
  const named = rules.filter((rule) => rule.included && !rule.wildcard);
  return {
    composites,
    json: {
      ...given,
      indexingMode: 'consistent',
      automatic: true,
      includedPaths: paths.included,
      excludedPaths: paths.excluded,
    },
    namedPaths: [
      ...named.map((rule) => rule.segments),
      ...composites.flatMap((composite) => composite.map(({ path }) => path)),
    ],
    isIndexed: (path) => isIndexed(rules, path),
  };
}

function isIndexed(rules: readonly PathRule[], path: readonly string[]): boolean {
  const [first] = path;
  if (path.length === 1 && first !== undefined && ALWAYS_INDEXED.includes(first)) return true;
  const applying = rules.filter((rule) => covers(rule, path));
  const mostPrecise = Math.max(...applying.map((rule) => rule.segments.length));
  return applying.some((rule) => rule.included && rule.segments.length === mostPrecise);
}
