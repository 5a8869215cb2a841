/** Queries over the items of a container, their plans, and the plain list of items. */
import { readFactor } from '../read-consistency.js';
import type { Answer, Request } from '../exchange.js';
import { containerOf, flag, header, parseObject } from '../exchange.js';
import type { LogicalPartition } from '../query/access-path.js';
import type { Query } from '../query/ast.js';
import { decodeContinuation, encodeContinuation, queryFingerprint } from '../query/continuation.js';
import type { ResumeFilter } from '../query/resume-filter.js';
import { readResumeFilter } from '../query/resume-filter.js';
import type { Scope } from '../query/scope.js';
import { executePage } from '../query/execute.js';
import type { Page } from '../query/page.js';
import { parseQuery } from '../query/parser.js';
import { needsPlan, queryPlan } from '../query/plan.js';
import type { Json, JsonObject } from '../query/values.js';
import { isArray, isObject } from '../query/values.js';
import { queryCharge } from '../request-charge.js';
import type { Container } from '../store/container.js';
import type { PhysicalPartition } from '../store/physical-partitions.js';
import { parsePartitionKey } from '../store/partition-key.js';
import { badRequest, notServableByGateway, notSupported, unknownPartitionRange } from '../wire-errors.js';
import { sessionHeaders } from './items.js';
import { queryMetrics } from './query-metrics.js';

const DEFAULT_PAGE = 100;
const MAX_PAGE = 1000;

interface QueryText {
  readonly text: string;
  readonly parameters: Json;
  readonly query: Query;
  readonly scope: Scope;
  readonly resume?: ResumeFilter;
}

function readParameters(list: Json): Readonly<Record<string, Json>> {
  if (!isArray(list)) throw badRequest('The query parameters are no array.');
  const entries = list.map((entry) => {
    const name = isObject(entry) ? entry['name'] : undefined;
    if (typeof name !== 'string' || !/^@[A-Za-z_]\w*$/.test(name))
      throw badRequest('A query parameter has no name like "@state".');
    return [name, (entry as JsonObject)['value']] as const;
  });
  return Object.fromEntries(entries.filter((entry): entry is [string, Json] => entry[1] !== undefined));
}

function readQuery(request: Request): QueryText {
  const body = parseObject(request.body);
  const text = body['query'];
  if (typeof text !== 'string') throw badRequest('The query text is missing.');
  const parameters = body['parameters'] ?? [];
  const resume = readResumeFilter(body['resumeFilter']);
  return {
    ...(resume === undefined ? {} : { resume }),
    text,
    parameters,
    query: parseQuery(text),
    scope: { parameters: readParameters(parameters), now: request.now },
  };
}

function pageSize(request: Request): number {
  const text = header(request, 'x-ms-max-item-count');
  if (text === undefined) return DEFAULT_PAGE;
  const size = Number(text);
  if (!Number.isInteger(size) || size < -1 || size === 0)
    throw badRequest(`x-ms-max-item-count is neither -1 nor a positive number: ${text}`);
  return size === -1 ? MAX_PAGE : Math.min(size, MAX_PAGE);
}

/** The physical partitions a request is for, with the logical one when it names a partition key. */
interface Place {
  readonly partitions: readonly PhysicalPartition[];
  readonly logicalPartition?: LogicalPartition;
  readonly name: string;
}

function placeOf(request: Request, container: Container): Place {
  const keyText = header(request, 'x-ms-documentdb-partitionkey');
  if (keyText !== undefined) {
    const key = parsePartitionKey(keyText);
    return { partitions: [container.partitionOf(key)], logicalPartition: { key }, name: keyText };
  }
  const range = header(request, 'x-ms-documentdb-partitionkeyrangeid');
  if (range === undefined) return { partitions: container.partitions, name: '*' };
  const partition = container.partitions.find(({ id }) => id === range);
  if (partition === undefined) throw unknownPartitionRange(range);
  return { partitions: [partition], name: range };
}

function answerPage(request: Request, container: Container, page: Page, continuation: string | undefined): Answer {
  const charge = readFactor(request) * queryCharge(page.work.partitions, page.work);
  const wantsMetrics = flag(request, 'x-ms-documentdb-populatequerymetrics');
  return {
    status: 200,
    charge,
    body: `{"_rid":"${container.rid}","Documents":[${page.items.join(',')}],"_count":${page.items.length}}`,
    headers: [
      'x-ms-item-count',
      String(page.items.length),
      ...sessionHeaders(container, container.counters.lsn()),
      'x-ms-cosmos-query-execution-info',
      JSON.stringify({ reverseRidEnabled: false, reverseIndexScan: page.isReversed === true }),
      ...(continuation === undefined ? [] : ['x-ms-continuation', continuation]),
      ...(wantsMetrics ? ['x-ms-documentdb-query-metrics', queryMetrics(page)] : []),
    ],
  };
}

function run(
  request: Request,
  container: Container,
  place: Place,
  { text, parameters, query, scope, resume }: QueryText,
): Answer | Promise<Answer> {
  const { definition, partitions } = container;
  const indexes = JSON.stringify(definition.indexingPolicy.json);
  const fingerprint = queryFingerprint(query, {
    text,
    parameters,
    place: [definition.name, place.name, partitions.length, indexes].join('\n'),
  });
  const token = header(request, 'x-ms-continuation');
  const page = executePage({
    container,
    query,
    scope,
    partitions: place.partitions,
    maxItems: pageSize(request),
    ...(resume === undefined ? {} : { resume }),
    ...(place.logicalPartition === undefined ? {} : { logicalPartition: place.logicalPartition }),
    ...(token === undefined ? {} : { from: decodeContinuation(fingerprint, token) }),
  });
  const answer = (done: Page): Answer =>
    answerPage(request, container, done, done.next && encodeContinuation(fingerprint, done.next));
  return page instanceof Promise ? page.then(answer) : answer(page);
}

/** Answers a query. One that needs the plan is refused unless it is for one partition. */
export function answerQuery(request: Request): Answer | Promise<Answer> {
  const container = containerOf(request);
  const query = readQuery(request);
  const place = placeOf(request, container);
  if (place.name === '*' && needsPlan(query.query)) throw notServableByGateway();
  return run(request, container, place, query);
}

/** Answers the request for a query plan. */
export function answerQueryPlan(request: Request): Answer {
  const { partitions } = containerOf(request);
  const { query, scope } = readQuery(request);
  return { status: 200, charge: 0, body: JSON.stringify(queryPlan(query, scope, partitions)) };
}

/** Answers GET …/docs: all items, page by page. */
export function answerFeed(request: Request): Answer | Promise<Answer> {
  if (header(request, 'a-im') !== undefined) throw notSupported('The change feed');
  const container = containerOf(request);
  const text = 'SELECT * FROM c';
  const query: QueryText = {
    text,
    parameters: [],
    query: parseQuery(text),
    scope: { parameters: {}, now: request.now },
  };
  return run(request, container, placeOf(request, container), query);
}
