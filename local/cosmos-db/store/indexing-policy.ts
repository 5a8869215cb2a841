/** Reads an indexing policy: which paths an index may serve. */
import type { Json } from '../query/values.js';
import { isArray, isObject } from '../query/values.js';

/** A path from the document's root and its direction in an index. */
export interface IndexPath {
  readonly path: readonly string[];
  readonly descending: boolean;
}

export interface IndexingPolicy {
  /** True when the scalar at the path has a range index. */
  isIndexed(path: readonly string[]): boolean;
  readonly composites: readonly (readonly IndexPath[])[];
  /** The paths named without a wildcard. */
  readonly namedPaths: readonly (readonly string[])[];
}

/** A policy that cannot be read; the message names the property. */
export class InvalidPolicyError extends Error {}

/** The property names of `/a/"b c"/?`; wildcards stay as they are. */
export function pathSegments(path: string): readonly string[] {
  const segments = path.match(/"(?:[^"\\]|\\.)*"|[^/]+/g) ?? [];
  return segments.map((segment) => (segment.startsWith('"') ? (JSON.parse(segment) as string) : segment));
}

interface PathRule {
  readonly segments: readonly string[];
  /** `/*` covers everything below, `/?` the scalar alone. */
  readonly wildcard: boolean;
  readonly included: boolean;
}

function readRules(value: Json | undefined, property: string, included: boolean): readonly PathRule[] {
  if (value === undefined) return [];
  if (!isArray(value)) throw new InvalidPolicyError(`indexingPolicy.${property} is no array`);
  return value.map((entry) => {
    const path = isObject(entry) ? entry['path'] : undefined;
    if (typeof path !== 'string' || !/^\/.*[?*]$/.test(path)) {
      throw new InvalidPolicyError(
        `indexingPolicy.${property} has a path that does not start with / and end with ? or *: ${JSON.stringify(entry)}`,
      );
    }
    const segments = pathSegments(path);
    return { segments: segments.slice(0, -1), wildcard: path.endsWith('*'), included };
  });
}

function covers(rule: PathRule, path: readonly string[]): boolean {
  const isPrefix = rule.segments.every((segment, index) => segment === path[index]);
  return isPrefix && (rule.wildcard || rule.segments.length === path.length);
}

function readCompositePath(entry: Json): IndexPath {
  const path = isObject(entry) ? entry['path'] : undefined;
  const order = isObject(entry) ? (entry['order'] ?? 'ascending') : undefined;
  if (typeof path !== 'string' || !path.startsWith('/') || (order !== 'ascending' && order !== 'descending')) {
    throw new InvalidPolicyError(
      `indexingPolicy.compositeIndexes has an entry without a path or with a bad order: ${JSON.stringify(entry)}`,
    );
  }
  return { path: pathSegments(path), descending: order === 'descending' };
}

function readComposites(value: Json | undefined): readonly (readonly IndexPath[])[] {
  if (value === undefined) return [];
  if (!isArray(value)) throw new InvalidPolicyError('indexingPolicy.compositeIndexes is no array');
  return value.map((composite) => {
    if (!isArray(composite) || composite.length < 2) {
      throw new InvalidPolicyError('indexingPolicy.compositeIndexes has an index of fewer than two paths');
    }
    return composite.map(readCompositePath);
  });
}

/** Everything is indexed when there is no policy. */
export const DEFAULT_POLICY: Json = { indexingMode: 'consistent', includedPaths: [{ path: '/*' }], excludedPaths: [] };

const ALWAYS_INDEXED: readonly string[] = ['id', '_ts'];

/** Reads a policy as JSON; throws InvalidPolicyError. */
export function readIndexingPolicy(policy: Json): IndexingPolicy {
  if (!isObject(policy)) throw new InvalidPolicyError('indexingPolicy is no object');
  const mode = policy['indexingMode'] ?? 'consistent';
  if (mode !== 'consistent')
    throw new InvalidPolicyError(
      `indexingPolicy.indexingMode is ${JSON.stringify(mode)}; only "consistent" is supported`,
    );
  const rules = [
    ...readRules(policy['includedPaths'], 'includedPaths', true),
    ...readRules(policy['excludedPaths'], 'excludedPaths', false),
  ];
  const composites = readComposites(policy['compositeIndexes']);
  const included = rules.filter((rule) => rule.included && !rule.wildcard);
  return {
    composites,
    namedPaths: [
      ...included.map((rule) => rule.segments),
      ...composites.flatMap((composite) => composite.map(({ path }) => path)),
    ],
    isIndexed: (path) => {
      const [first] = path;
      if (path.length === 1 && first !== undefined && ALWAYS_INDEXED.includes(first)) return true;
      const applying = rules.filter((rule) => covers(rule, path));
      const mostPrecise = Math.max(...applying.map((rule) => rule.segments.length));
      return applying.some((rule) => rule.included && rule.segments.length === mostPrecise);
    },
  };
}
