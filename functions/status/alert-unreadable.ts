import type { RecordPage, Telemetry } from '../state/ports.js';

/** Tells an operator of every document that this build can't read; it is left alone (C61). */
export function alertUnreadable({ unreadable }: RecordPage, telemetry: Telemetry): void {
  for (const { kind, id, problem } of unreadable) {
    telemetry.alert(kind === 'newer' ? 'record-newer' : 'record-malformed', { orderId: id, problem });
  }
}
