/** The header with what a page of a query did. Times are not measured and shown as 0. */
import type { Page } from '../query/page.js';

/** The metrics in the service's form, `name=value;name=value`. */
export function queryMetrics({ items, work }: Page): string {
  const indexHits = work.loaded - work.scanned;
  const metrics: readonly (readonly [string, number])[] = [
    ['totalExecutionTimeInMs', 0],
    ['queryCompileTimeInMs', 0],
    ['queryLogicalPlanBuildTimeInMs', 0],
    ['queryPhysicalPlanBuildTimeInMs', 0],
    ['queryOptimizationTimeInMs', 0],
    ['VMExecutionTimeInMs', 0],
    ['indexLookupTimeInMs', 0],
    ['documentLoadTimeInMs', 0],
    ['systemFunctionExecuteTimeInMs', 0],
    ['userFunctionExecuteTimeInMs', 0],
    ['retrievedDocumentCount', work.loaded],
    ['retrievedDocumentSize', work.loadedBytes],
    ['outputDocumentCount', items.length],
    ['outputDocumentSize', work.outputBytes],
    ['writeOutputTimeInMs', 0],
    ['indexUtilizationRatio', work.loaded === 0 ? 1 : indexHits / work.loaded],
  ];
  return metrics.map(([name, value]) => `${name}=${value.toFixed(2)}`).join(';');
}
