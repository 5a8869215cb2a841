/** Reads the path of a request: which resource it names, and what its signature covers. */
import type { Database } from './store/catalog.js';
import { badRequest, notSupported } from './wire-errors.js';

/** The kinds of resources a path can name. */
export type ResourceKind =
  'account' | 'databases' | 'database' | 'containers' | 'container' | 'partitionRanges' | 'items' | 'item';

export interface ResourcePath {
  readonly kind: ResourceKind;
  readonly database: string;
  readonly container: string;
  readonly item: string;
  /** The two parts of the signature's text that come from the path. */
  readonly resourceType: string;
  readonly resourceId: string;
  /** What the signature covers instead where the path names its resources by their ids. */
  readonly ownRid: string;
}

const KINDS: Readonly<Record<string, ResourceKind | undefined>> = {
  '': 'account',
  dbs: 'databases',
  'dbs/*': 'database',
  'dbs/*/colls': 'containers',
  'dbs/*/colls/*': 'container',
  'dbs/*/colls/*/pkranges': 'partitionRanges',
  'dbs/*/colls/*/docs': 'items',
  'dbs/*/colls/*/docs/*': 'item',
};

function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    throw badRequest(`The path holds a badly encoded part: ${segment}`);
  }
}

function segmentsOf(target: string): readonly string[] {
  const end = target.indexOf('?');
  const path = end < 0 ? target : target.slice(0, end);
  return path
    .split('/')
    .filter((segment) => segment !== '')
    .map(decodeSegment);
}

/** Refuses what it does not know: what the signature of such a request would cover is not known either. */
function kindOf(segments: readonly string[], resourceType: string): ResourceKind {
  const shape = segments.map((segment, index) => (index % 2 === 0 ? segment : '*')).join('/');
  const kind = Object.hasOwn(KINDS, shape) ? KINDS[shape] : undefined;
  if (kind === undefined) throw notSupported(`The resource type ${JSON.stringify(resourceType)}`);
  return kind;
}

/** Parses a request target. */
export function parseResourcePath(target: string): ResourcePath {
  const segments = segmentsOf(target);
  const namesParent = segments.length % 2 === 1;
  const named = namesParent ? segments.slice(0, -1) : segments;
  const resourceType = segments.at(namesParent ? -1 : -2) ?? '';
  const [, database = '', , container = '', , item = ''] = segments;
  return {
    kind: kindOf(segments, resourceType),
    database,
    container,
    item,
    resourceType,
    resourceId: named.join('/'),
    ownRid: (named.at(-1) ?? '').toLowerCase(),
  };
}

/** The path by names; clients may name a database and its container by their `_rid`s instead. */
export function withNames(path: ResourcePath, databases: ReadonlyMap<string, Database>): ResourcePath {
  if (path.database === '' || databases.has(path.database)) return path;
  const database = [...databases.values()].find(({ rid }) => rid === path.database);
  if (database === undefined) return path;
  const container = [...database.containers.values()].find(({ rid }) => rid === path.container);
  return { ...path, database: database.name, container: container?.definition.name ?? path.container };
}
