/** Databases: list, create, read, delete. */
import type { Answer, Request } from '../exchange.js';
import { databaseOf, flag, parseObject } from '../exchange.js';
import type { Database } from '../store/catalog.js';
import { checkResourceName } from '../store/definition.js';
import { badRequest, conflict, methodNotAllowed, notSupported } from '../wire-errors.js';

const METADATA_CHARGE = 1;

function describe(database: Database): Record<string, unknown> {
  return {
    id: database.name,
    _rid: database.rid,
    _self: `dbs/${encodeURIComponent(database.name)}/`,
    _etag: `"${database.rid}"`,
    _colls: 'colls/',
    _users: 'users/',
    _ts: 0,
  };
}

function create(request: Request): Answer {
  if (flag(request, 'x-ms-documentdb-isquery')) throw notSupported('A query over databases');
  const problems: string[] = [];
  const name = checkResourceName(parseObject(request.body)['id'], 'id', problems);
  if (problems.length > 0) throw badRequest(problems.join('; '));
  if (request.store.databases.has(name)) throw conflict(`database ${name}`);
  return { status: 201, charge: METADATA_CHARGE, body: JSON.stringify(describe(request.store.createDatabase(name))) };
}

/** Answers /dbs. */
export function answerDatabases(request: Request): Answer {
  if (request.method === 'POST') return create(request);
  if (request.method !== 'GET') throw methodNotAllowed(request.method, '/dbs');
  const databases = [...request.store.databases.values()].map(describe);
  return {
    status: 200,
    charge: METADATA_CHARGE,
    body: JSON.stringify({ _rid: '', Databases: databases, _count: databases.length }),
  };
}

/** Answers /dbs/{name}. */
export function answerDatabase(request: Request): Answer {
  const database = databaseOf(request);
  if (request.method === 'GET')
    return { status: 200, charge: METADATA_CHARGE, body: JSON.stringify(describe(database)) };
  if (request.method !== 'DELETE') throw methodNotAllowed(request.method, '/dbs/{name}');
  return {
    status: 204,
    charge: METADATA_CHARGE,
    commit: () => {
      request.store.dropDatabase(database.name);
    },
  };
}
