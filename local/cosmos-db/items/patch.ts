/**
 * Partial updates.
 *
 * Invariants
 * P1 The operations apply in their order to a copy; the first that fails refuses the whole patch.
 * P2 Neither the id nor the partition key nor a system property changes.
 */
import type { Json, JsonObject } from '../query/values.js';
import { isArray, isObject } from '../query/values.js';
import type { ContainerDefinition } from '../store/definition.js';
import { badRequest } from '../wire-errors.js';

const MAX_OPERATIONS = 10;

type Operation = 'add' | 'set' | 'replace' | 'remove' | 'incr';

interface PatchOperation {
  readonly op: Operation;
  readonly path: readonly string[];
  readonly value: Json | undefined;
}

export interface Patch {
  readonly operations: readonly PatchOperation[];
  /** `FROM c WHERE …`; the patch applies only where it is true. */
  readonly condition?: string;
}

type MutableObject = Record<string, Json>;

const OPERATIONS: readonly string[] = ['add', 'set', 'replace', 'remove', 'incr'] satisfies readonly Operation[];
const PROTECTED: readonly string[] = ['id', '_rid', '_self', '_etag', '_attachments', '_ts'];

function readPath(path: Json | undefined): readonly string[] {
  if (typeof path !== 'string' || !path.startsWith('/') || path === '/') {
    throw badRequest(`A patch operation has no path like "/a/b": ${JSON.stringify(path)}`);
  }
  const segments = path
    .slice(1)
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (segments.includes('__proto__')) throw badRequest('A patch path cannot name __proto__.');
  return segments;
}

function readOperation(entry: Json): PatchOperation {
  if (!isObject(entry)) throw badRequest('A patch operation is no object.');
  const { op, value } = entry;
  if (op === 'move')
    throw badRequest('The patch operation move is not supported by the embedded Cosmos DB: use add and remove.');
  if (typeof op !== 'string' || !OPERATIONS.includes(op))
    throw badRequest(`Unknown patch operation ${JSON.stringify(op)}.`);
  if (op !== 'remove' && value === undefined) throw badRequest(`The patch operation ${op} needs a value.`);
  return { op: op as Operation, path: readPath(entry['path']), value };
}

/** Reads a patch: a list of operations, or an object with operations and a condition. */
export function readPatch(body: Json): Patch {
  const list = isObject(body) ? body['operations'] : body;
  if (!isArray(list) || list.length === 0) throw badRequest('A patch needs a list of operations.');
  if (list.length > MAX_OPERATIONS) throw badRequest(`A patch cannot have more than ${MAX_OPERATIONS} operations.`);
  const condition = isObject(body) ? body['condition'] : undefined;
  if (condition !== undefined && typeof condition !== 'string')
    throw badRequest('The condition of a patch is no text.');
  const operations = list.map(readOperation);
  return condition === undefined ? { operations } : { operations, condition };
}

function checkAllowed({ path }: PatchOperation, definition: ContainerDefinition): void {
  const [first] = path;
  const { partitionKeyPath } = definition;
  const hitsKey = partitionKeyPath.every((segment, index) => index >= path.length || segment === path[index]);
  if (hitsKey || (first !== undefined && PROTECTED.includes(first))) {
    throw badRequest(
      `A patch cannot change /${path.join('/')}: the id, the partition key and system properties are fixed.`,
    );
  }
}

/** The object or array that holds what the path names, with the last step. */
function resolve(
  document: MutableObject,
  path: readonly string[],
): { readonly parent: MutableObject | Json[]; readonly key: string } {
  let parent: Json = document;
  for (const segment of path.slice(0, -1)) {
    const container = parent as MutableObject | Json[];
    const next: Json | undefined = Array.isArray(container)
      ? container[indexOf(container, segment)]
      : own(container, segment);
    if (typeof next !== 'object' || next === null) throw missing(path);
    parent = next;
  }
  return { parent: parent as MutableObject | Json[], key: path[path.length - 1] ?? '' };
}

function own(object: MutableObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function missing(path: readonly string[]): Error {
  return badRequest(`For the patch path /${path.join('/')} there is nothing in the document.`);
}

/** An index inside the array, or its end. */
function indexOf(array: readonly Json[], segment: string): number {
  const index = segment === '-' ? array.length : Number(segment);
  const isIndex = segment === '-' || /^(0|[1-9]\d*)$/.test(segment);
  if (!isIndex || index > array.length) throw badRequest(`The patch path's index ${segment} is outside the array.`);
  return index;
}

function applyToArray(array: Json[], { op, path, value }: PatchOperation, segment: string): void {
  const index = indexOf(array, segment);
  const present = array[index];
  if (op === 'add' || (op === 'set' && present === undefined)) {
    array.splice(index, 0, value as Json);
    return;
  }
  if (present === undefined) throw missing(path);
  if (op === 'remove') array.splice(index, 1);
  else array[index] = op === 'incr' ? incremented(present, value, path) : (value as Json);
}

function applyToObject(object: MutableObject, { op, path, value }: PatchOperation, key: string): void {
  const present = own(object, key);
  if ((op === 'replace' || op === 'remove') && present === undefined) throw missing(path);
  if (op === 'remove') Reflect.deleteProperty(object, key);
  else object[key] = op === 'incr' ? incremented(present ?? 0, value, path) : (value as Json);
}

function incremented(present: Json, by: Json | undefined, path: readonly string[]): number {
  if (typeof present !== 'number' || typeof by !== 'number')
    throw badRequest(`incr needs numbers at /${path.join('/')}.`);
  return present + by;
}

/** The document after the patch. */
export function applyPatch(document: JsonObject, patch: Patch, definition: ContainerDefinition): JsonObject {
  const copy = structuredClone<MutableObject>(document);
  for (const operation of patch.operations) {
    checkAllowed(operation, definition);
    const { parent, key } = resolve(copy, operation.path);
    if (Array.isArray(parent)) applyToArray(parent, operation, key);
    else applyToObject(parent, operation, key);
  }
  return copy;
}
