import type { RecordPage, Telemetry } from '../state/ports.js';
import { alertOnce } from './alert-once.js';

/**
 * Alerts about every document that this build cannot read, once per process; the document is left alone.
 *
 * @returns how many of them were alerted for the first time
 */
export function alertUnreadable({ unreadable }: RecordPage, telemetry: Telemetry): number {
  return unreadable.filter(({ kind, id: orderId, problem }) =>
    alertOnce(telemetry, kind === 'newer' ? 'record-newer' : 'record-malformed', { orderId, problem }),
  ).length;
}
