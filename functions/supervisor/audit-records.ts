/** The slow look at everything: documents that no due date ever brings up (C11, C42, C61). */
import type { StateStore, Telemetry } from '../state/ports.js';
import { alertUnreadable } from '../status/alert-unreadable.js';

/** Reports unreadable documents, in bounded pages; the next run reports what this one did not reach. */
export async function auditRecords(
  { store, telemetry }: { readonly store: StateStore; readonly telemetry: Telemetry },
  { pageSize, maxPerRun }: { readonly pageSize: number; readonly maxPerRun: number },
): Promise<number> {
  let found = 0;
  for await (const page of store.pageSuspicious(pageSize)) {
    alertUnreadable(page, telemetry);
    found += page.unreadable.length;
    if (found >= maxPerRun) break;
  }
  telemetry.event('audit-run', { found });
  return found;
}
