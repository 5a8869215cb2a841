/** Runs one page of a query. */
import { hasAggregate } from './aggregates.js';
import { executeConstant } from './constant-page.js';
import type { Page, PageRequest } from './page.js';
import { selectionExpression } from './selection.js';
import { executeStream } from './streamed-page.js';
import { collectDistinct, collectGroups, executeWhole } from './whole-page.js';

/** Runs the page a request asks for: at once, or in several turns when it must see many documents. */
export function executePage(request: PageRequest): Page | Promise<Page> {
  const { query, logicalPartition } = request;
  if (query.alias === undefined) return executeConstant(request);
  if (query.groupBy.length > 0 || hasAggregate(selectionExpression(query.selection))) {
    return executeWhole(request, collectGroups(request));
  }
  if (query.distinct && logicalPartition !== undefined) return executeWhole(request, collectDistinct(request));
  return executeStream(request);
}
