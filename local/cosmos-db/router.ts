/** Finds the operation of a request and the route that answers it. */
import type { Answer, Request } from './exchange.js';
import { flag, header } from './exchange.js';
import type { Operation } from './operations.js';
import { answerAccount } from './routes/account.js';
import { answerBatch } from './routes/batch.js';
import { answerContainer, answerContainers, answerPartitionRanges } from './routes/containers.js';
import { answerDatabase, answerDatabases } from './routes/databases.js';
import { answerCreate, answerItem } from './routes/items.js';
import { answerFeed, answerQuery, answerQueryPlan } from './routes/query.js';
import type { ResourceKind } from './resource-path.js';
import { methodNotAllowed } from './wire-errors.js';

/** A route with the name its operation has for faults and counters. */
export interface Route {
  readonly operation: Operation;
  /** A promise for what takes several turns; such an answer has no effect on the store. */
  readonly answer: (request: Request) => Answer | Promise<Answer>;
}

const ITEM_OPERATIONS: Readonly<Record<string, Operation>> = {
  GET: 'read',
  PUT: 'replace',
  PATCH: 'patch',
  DELETE: 'delete',
};

function isQuery(request: Request): boolean {
  return (
    flag(request, 'x-ms-documentdb-isquery') ||
    header(request, 'content-type')?.startsWith('application/query+json') === true
  );
}

function routeOfItems(request: Request): Route {
  if (request.method === 'GET') return { operation: 'query', answer: answerFeed };
  if (request.method !== 'POST') throw methodNotAllowed(request.method, 'docs');
  if (flag(request, 'x-ms-cosmos-is-query-plan-request')) return { operation: 'queryPlan', answer: answerQueryPlan };
  if (flag(request, 'x-ms-cosmos-is-batch-request')) return { operation: 'batch', answer: answerBatch };
  if (isQuery(request)) return { operation: 'query', answer: answerQuery };
  return { operation: flag(request, 'x-ms-documentdb-is-upsert') ? 'upsert' : 'create', answer: answerCreate };
}

type FixedKind = Exclude<ResourceKind, 'item' | 'items'>;

const FIXED: Readonly<Record<FixedKind, Route>> = {
  account: { operation: 'account', answer: answerAccount },
  databases: { operation: 'database', answer: answerDatabases },
  database: { operation: 'database', answer: answerDatabase },
  containers: { operation: 'container', answer: answerContainers },
  container: { operation: 'container', answer: answerContainer },
  partitionRanges: { operation: 'partitionRanges', answer: answerPartitionRanges },
};

/** The route of a request; throws for what is not supported. */
export function routeOf(request: Request): Route {
  const { kind } = request.path;
  switch (kind) {
    case 'item':
      return { operation: ITEM_OPERATIONS[request.method] ?? 'read', answer: answerItem };
    case 'items':
      return routeOfItems(request);
    default:
      return FIXED[kind];
  }
}
