import type { EventFields, Telemetry } from '../state/ports.js';

const rememberedAlerts = 10_000;
const alerted = new Set<string>();

/**
 * Gives an alert once per process and set of fields: what a timer finds again in each run must not become a flood.
 *
 * @returns whether the alert was given now
 */
export function alertOnce(telemetry: Telemetry, name: string, fields: EventFields): boolean {
  const key = JSON.stringify([name, fields]);
  if (alerted.has(key)) return false;
  if (alerted.size >= rememberedAlerts) alerted.clear();
  alerted.add(key);
  telemetry.alert(name, fields);
  return true;
}
