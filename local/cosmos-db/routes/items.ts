/** Point operations on items. */
import type { Answer, Request } from '../exchange.js';
import { containerOf, flag, header, parseJson, parseObject, wantsNoContent } from '../exchange.js';
import { readFactor, visibilityOf } from '../read-consistency.js';
import type { Conditions, ItemTarget, Outcome, View } from '../items/operations.js';
import { createItem, deleteItem, findItem, patchItem, readItem, replaceItem, upsertItem } from '../items/operations.js';
import { readPatch } from '../items/patch.js';
import type { Container } from '../store/container.js';
import type { PartitionKeyValue } from '../store/partition-key.js';
import { parsePartitionKey } from '../store/partition-key.js';
import { badRequest, methodNotAllowed } from '../wire-errors.js';

/** The start of every `_etag` of this run, so that no later run repeats one. */
const RUN = Math.floor(Math.random() * 0x100000000)
  .toString(16)
  .padStart(8, '0');

/** The quoted `_etag` of a version. */
export function newEtag(lsn: number): string {
  return `"${RUN}-0000-0000-0000-${lsn.toString(16).padStart(12, '0')}"`;
}

/** The partition key a request names; 400 without one. */
export function requestedPartitionKey(request: Request): PartitionKeyValue {
  const text = header(request, 'x-ms-documentdb-partitionkey');
  if (text === undefined) throw badRequest('PartitionKey value must be supplied for this operation.');
  return parsePartitionKey(text);
}

function conditionsOf(request: Request): Conditions {
  return { ifMatch: header(request, 'if-match'), ifNoneMatch: header(request, 'if-none-match') };
}

export function viewOf(container: Container, now: number): View {
  return { container, now, newEtag, find: (partitionKey, id) => findItem(container.find(partitionKey, id), now) };
}

/** What a read sees: everything, or what a fault rule lets it see. */
function readViewOf(request: Request, container: Container): View {
  const { now } = request;
  const view = viewOf(container, now);
  const isVisible = visibilityOf(request);
  if (isVisible === undefined) return view;
  return { ...view, find: (partitionKey, id) => findItem(container.findEarlier(partitionKey, id, isVisible), now) };
}

/** What the client keeps of its session, and by which container. */
export function sessionHeaders({ definition, rid }: Container, lsn: number): readonly string[] {
  const path = `dbs/${definition.database}/colls/${definition.name}`;
  return ['x-ms-session-token', `0:-1#${lsn}`, 'x-ms-content-path', rid, 'x-ms-alt-content-path', path];
}

function answerOf(request: Request, container: Container, outcome: Outcome): Answer {
  const { status, charge, body, etag, lsn, change } = outcome;
  const leavesOutContent = change !== undefined && wantsNoContent(request);
  return {
    status,
    charge,
    headers: [...(etag === undefined ? [] : ['etag', etag]), ...sessionHeaders(container, lsn), 'lsn', String(lsn)],
    ...(body === undefined || leavesOutContent ? {} : { body }),
    ...(change === undefined
      ? {}
      : {
          commit: () => {
            request.store.apply(container, [change]);
          },
        }),
  };
}

/** Answers POST …/docs of one document. */
export function answerCreate(request: Request): Answer {
  const container = containerOf(request);
  const view = viewOf(container, request.now);
  const partitionKey = requestedPartitionKey(request);
  const document = parseObject(request.body);
  const outcome = flag(request, 'x-ms-documentdb-is-upsert')
    ? upsertItem(view, document, partitionKey, conditionsOf(request))
    : createItem(view, document, partitionKey);
  return answerOf(request, container, outcome);
}

function decide(request: Request, view: View, target: ItemTarget): Outcome {
  switch (request.method) {
    case 'GET': {
      const outcome = readItem(view, target, conditionsOf(request));
      return { ...outcome, charge: readFactor(request) * outcome.charge };
    }
    case 'PUT':
      return replaceItem(view, target, parseObject(request.body), conditionsOf(request));
    case 'PATCH':
      return patchItem(view, target, readPatch(parseJson(request.body)), conditionsOf(request));
    case 'DELETE':
      return deleteItem(view, target, conditionsOf(request));
    default:
      throw methodNotAllowed(request.method, 'docs/{id}');
  }
}

/** Answers …/docs/{id}. */
export function answerItem(request: Request): Answer {
  const container = containerOf(request);
  const target = { id: request.path.item, partitionKey: requestedPartitionKey(request) };
  const view = request.method === 'GET' ? readViewOf(request, container) : viewOf(container, request.now);
  return answerOf(request, container, decide(request, view, target));
}
