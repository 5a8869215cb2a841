/** The slow look at everything: documents that no due date ever brings up (C11, C42, C61). */
import type { StateStore, Telemetry } from '../state/ports.js';
import { alertUnreadable } from '../status/alert-unreadable.js';

/**
 * Reports unreadable documents, in pages. A run stops after `maxPerRun` that were not reported before; the next one passes
 * over those and goes on with what this one did not reach.
 *
 * @returns how many unreadable documents it saw
 */
export async function auditRecords(
  { store, telemetry }: { readonly store: StateStore; readonly telemetry: Telemetry },
  { pageSize, maxPerRun }: { readonly pageSize: number; readonly maxPerRun: number },
): Promise<number> {
  let found = 0;
  let told = 0;
  for await (const page of store.pageSuspicious(pageSize)) {
    told += alertUnreadable(page, telemetry);
    found += page.unreadable.length;
    if (told >= maxPerRun) break;
  }
  telemetry.event('audit-run', { found });
  return found;
}
