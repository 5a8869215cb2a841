/** POST …/docs with a transactional batch. */
import type { Answer, Request } from '../exchange.js';
import { containerOf, flag, header, parseJson } from '../exchange.js';
import { decideBatch } from '../items/batch.js';
import { MAX_DOCUMENT_BYTES } from '../items/rules.js';
import { notSupported, tooLarge } from '../wire-errors.js';
import { requestedPartitionKey, viewOf } from './items.js';

/** Answers a batch; bulk requests, which are not atomic, are refused. */
export function answerBatch(request: Request): Answer {
  if (!flag(request, 'x-ms-cosmos-batch-atomic'))
    throw notSupported('Bulk execution (use items.batch or single operations)');
  if (request.body.length > MAX_DOCUMENT_BYTES) throw tooLarge();
  const container = containerOf(request);
  const isMinimal = header(request, 'prefer') === 'return=minimal';
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
