import type { RecordPage, Telemetry } from '../state/ports.js';

const rememberedAlerts = 10_000;
const alerted = new Set<string>();

/**
 * Tells an operator of every document that this build can't read, once a process; it is left alone (C52, C61).
 *
 * @returns how many it told of for the first time
 */
export function alertUnreadable({ unreadable }: RecordPage, telemetry: Telemetry): number {
  let told = 0;
  for (const { kind, id, problem } of unreadable) {
    const key = `${id} ${problem}`;
    if (alerted.has(key)) continue;
    if (alerted.size >= rememberedAlerts) alerted.clear();
    alerted.add(key);
    telemetry.alert(kind === 'newer' ? 'record-newer' : 'record-malformed', { orderId: id, problem });
    told += 1;
  }
  return told;
}
