/** GET /: what a client reads first. */
import type { Answer, Request } from '../exchange.js';
import { header } from '../exchange.js';
import { MAX_TEXT_LENGTH, MAX_TOKENS } from '../query/cursor.js';
import { methodNotAllowed } from '../wire-errors.js';

/** Not "localhost": under that id the client would read the account again and again. */
const ACCOUNT_ID = 'embedded-cosmos-db';

/** What clients that plan queries themselves must know; they refuse an empty one. */
const QUERY_ENGINE = JSON.stringify({
  maxSqlQueryInputLength: MAX_TEXT_LENGTH,
  maxJoinsPerSqlQuery: 0,
  maxUdfRefPerSqlQuery: 0,
  maxInExpressionItemsCount: MAX_TOKENS,
  sqlAllowNonFiniteNumbers: false,
  sqlAllowAggregateFunctions: true,
  sqlAllowSubQuery: false,
  sqlAllowScalarSubQuery: false,
  sqlAllowLike: true,
  sqlAllowGroupByClause: true,
});

/** Answers the account with one region: this very server, by the name the client called it. */
export function answerAccount(request: Request): Answer {
  if (request.method !== 'GET') throw methodNotAllowed(request.method, '/');
  const location = { name: 'Local', databaseAccountEndpoint: `http://${header(request, 'host') ?? '127.0.0.1'}/` };
  const consistency = { defaultConsistencyLevel: request.store.consistency };
  return {
    status: 200,
    charge: 0,
    body: JSON.stringify({
      id: ACCOUNT_ID,
      _rid: `${ACCOUNT_ID}.local`,
      _self: '',
      media: '//media/',
      addresses: '//addresses/',
      _dbs: '//dbs/',
      writableLocations: [location],
      readableLocations: [location],
      enableMultipleWriteLocations: false,
      enablePerPartitionFailoverBehavior: false,
      userReplicationPolicy: { asyncReplication: false, minReplicaSetSize: 1, maxReplicasetSize: 4 },
      userConsistencyPolicy: consistency,
      systemReplicationPolicy: { minReplicaSetSize: 1, maxReplicasetSize: 4 },
      readPolicy: { primaryReadCoefficient: 1, secondaryReadCoefficient: 1 },
      queryEngineConfiguration: QUERY_ENGINE,
    }),
  };
}
