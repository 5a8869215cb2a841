/** POST …/docs with a transactional batch. */
import type { Answer, Request } from '../exchange.js';
import { containerOf, flag, parseJson, wantsNoContent } from '../exchange.js';
import { decideBatch } from '../items/batch.js';
import { MAX_DOCUMENT_BYTES } from '../items/rules.js';
import { notSupported, tooLarge } from '../wire-errors.js';
import { requestedPartitionKey, viewOf } from './items.js';

/** The first byte of a body in HybridRow. */
const HYBRID_ROW_VERSION = 0x81;

/** Answers a batch; bulk requests, which are not atomic, are refused. */
export function answerBatch(request: Request): Answer {
  if (!flag(request, 'x-ms-cosmos-batch-atomic'))
    throw notSupported('Bulk execution (use a transactional batch or single operations)');
  if (request.body[0] === HYBRID_ROW_VERSION)
    throw notSupported('A transactional batch in HybridRow, as clients in .NET send it (use single operations)');
  if (request.body.length > MAX_DOCUMENT_BYTES) throw tooLarge();
  const container = containerOf(request);
  const isMinimal = wantsNoContent(request);
  const view = viewOf(container, request.now);
  const { status, charge, body, changes } = decideBatch(
    view,
    parseJson(request.body),
    requestedPartitionKey(request),
    isMinimal,
  );
  return {
    status,
    charge,
    body,
    headers: ['x-ms-session-token', `0:-1#${container.counters.lsn()}`],
    commit: () => {
      if (changes.length > 0) request.store.apply(container, changes);
    },
  };
}
