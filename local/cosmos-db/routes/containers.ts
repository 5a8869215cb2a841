/** Containers: list, create, read, delete, and their physical partitions. */
import type { Answer, Request } from '../exchange.js';
import { containerOf, databaseOf, flag, header, parseObject } from '../exchange.js';
import type { Container } from '../store/container.js';
import type { ContainerDefinition } from '../store/definition.js';
import { readDefinition } from '../store/definition.js';
import { badRequest, conflict, methodNotAllowed, notSupported } from '../wire-errors.js';

const METADATA_CHARGE = 1;

function describe({ definition, rid }: Container): Record<string, unknown> {
  return {
    id: definition.name,
    indexingPolicy: definition.indexingPolicy.json,
    partitionKey: { paths: [definition.partitionKeyText], kind: 'Hash', version: 2 },
    ...(definition.defaultTtl === undefined ? {} : { defaultTtl: definition.defaultTtl }),
    _rid: rid,
    _self: `dbs/${encodeURIComponent(definition.database)}/colls/${encodeURIComponent(definition.name)}/`,
    _etag: `"${rid}"`,
    _docs: 'docs/',
    _sprocs: 'sprocs/',
    _triggers: 'triggers/',
    _udfs: 'udfs/',
    _conflicts: 'conflicts/',
    _ts: 0,
  };
}

function readRequestedDefinition(request: Request): ContainerDefinition {
  const problems: string[] = [];
  const source = {
    database: request.path.database,
    properties: parseObject(request.body),
    nameProperty: 'id',
  } as const;
  const definition = readDefinition(source, problems);
  if (problems.length > 0) throw badRequest(problems.join('; '));
  return definition;
}

function create(request: Request): Answer {
  if (flag(request, 'x-ms-documentdb-isquery')) throw notSupported('A query over containers');
  const definition = readRequestedDefinition(request);
  if (databaseOf(request).containers.has(definition.name)) throw conflict(`container ${definition.name}`);
  return {
    status: 201,
    charge: METADATA_CHARGE,
    body: JSON.stringify(describe(request.store.createContainer(definition))),
  };
}

/** Answers /dbs/{name}/colls. */
export function answerContainers(request: Request): Answer {
  const database = databaseOf(request);
  if (request.method === 'POST') return create(request);
  if (request.method !== 'GET') throw methodNotAllowed(request.method, '/dbs/{name}/colls');
  const containers = [...database.containers.values()].map(describe);
  const body = JSON.stringify({ _rid: database.rid, DocumentCollections: containers, _count: containers.length });
  return { status: 200, charge: METADATA_CHARGE, body };
}

/** Answers /dbs/{name}/colls/{name}. */
export function answerContainer(request: Request): Answer {
  const container = containerOf(request);
  if (request.method === 'GET') {
    const headers = ['x-ms-documentdb-collection-index-transformation-progress', '100'];
    return { status: 200, charge: METADATA_CHARGE, body: JSON.stringify(describe(container)), headers };
  }
  if (request.method === 'PUT')
    throw notSupported('Changing a container (change infra/topology.json and start again instead)');
  if (request.method !== 'DELETE') throw methodNotAllowed(request.method, '/dbs/{name}/colls/{name}');
  const { database, name } = container.definition;
  return {
    status: 204,
    charge: METADATA_CHARGE,
    commit: () => {
      request.store.dropContainer(database, name);
    },
  };
}

/** Answers …/pkranges. */
export function answerPartitionRanges(request: Request): Answer {
  if (request.method !== 'GET') throw methodNotAllowed(request.method, 'pkranges');
  const { partitions, rid } = containerOf(request);
  const ranges = partitions.map(({ id, minInclusive, maxExclusive }) => ({
    id,
    minInclusive,
    maxExclusive,
    _rid: rid,
    _etag: `"${rid}-${id}"`,
    ridPrefix: Number(id),
    throughputFraction: 1 / partitions.length,
    status: 'online',
    parents: [],
    _ts: 0,
  }));
  const etag = `"${rid}-${partitions.length}"`;
  // Clients ask again until nothing has changed.
  if (header(request, 'if-none-match') === etag) return { status: 304, charge: 0, headers: ['etag', etag] };
  const body = JSON.stringify({ _rid: rid, PartitionKeyRanges: ranges, _count: ranges.length });
  return { status: 200, charge: 0, body, headers: ['etag', etag] };
}
