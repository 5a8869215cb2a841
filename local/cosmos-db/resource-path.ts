/** Reads the path of a request: which resource it names, and what its signature covers. */
import { badRequest } from './wire-errors.js';

/** The kinds of resources a path can name. */
export type ResourceKind =
  'account' | 'databases' | 'database' | 'containers' | 'container' | 'partitionRanges' | 'items' | 'item' | 'other';

export interface ResourcePath {
  readonly kind: ResourceKind;
  readonly database: string;
  readonly container: string;
  readonly item: string;
  /** The two parts of the signature's text that come from the path. */
  readonly resourceType: string;
  readonly resourceId: string;
}

const KINDS: Readonly<Record<string, ResourceKind>> = {
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

/** Parses a request target. */
export function parseResourcePath(target: string): ResourcePath {
  const end = target.indexOf('?');
  const path = end < 0 ? target : target.slice(0, end);
  const segments = path
    .split('/')
    .filter((segment) => segment !== '')
    .map(decodeSegment);
  const shape = segments.map((segment, index) => (index % 2 === 0 ? segment : '*')).join('/');
  const namesParent = segments.length % 2 === 1;
  const typeIndex = namesParent ? segments.length - 1 : segments.length - 2;
  return {
    kind: Object.hasOwn(KINDS, shape) ? (KINDS[shape] ?? 'other') : 'other',
    database: segments[1] ?? '',
    container: segments[3] ?? '',
    item: segments[5] ?? '',
    resourceType: segments[typeIndex] ?? '',
    resourceId: (namesParent ? segments.slice(0, -1) : segments).join('/'),
  };
}
