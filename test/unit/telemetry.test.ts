import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { alertNames, eventNames } from '../../functions/telemetry/events.js';
import { createTelemetry } from '../../functions/telemetry/telemetry.js';

const folder = join(import.meta.dirname, '../../functions');

/** How the app calls telemetry, up to the name it gives. */
const callPatterns = {
  event: /telemetry\.event\(([^,)]*)/g,
  alert: /(?:telemetry\.alert\(|alertOnce\([\w.]*telemetry, )([^,);]*)/g,
} as const;

/** The names that the app may give to telemetry. */
function callsOf(method: 'event' | 'alert'): readonly string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const sources = files.map((file) => readFileSync(join(folder, file), 'utf8'));
  const calls = sources.flatMap((source) => [...source.matchAll(callPatterns[method])]);
  const names = calls.map(([, name = '']) => name.replaceAll(/=== '[a-z-]+'/g, ''));
  return names.flatMap((name) => [...name.matchAll(/'([a-z-]+)'/g)].map(([, literal = '']) => literal));
}

describe('events', () => {
  it('that the code emits are the ones of the contract, and the other way round (R58)', () => {
    expect([...new Set(callsOf('event'))].sort()).toEqual([...eventNames].sort());
  });

  it('that an operator must see are the ones of the contract, and the other way round (R59)', () => {
    expect([...new Set(callsOf('alert'))].sort()).toEqual([...alertNames].sort());
  });

  it('have names of their own', () => {
    const all = [...eventNames, ...alertNames];
    expect(new Set(all).size).toBe(all.length);
  });

  it('are one JSON object a line, alerts as errors', () => {
    const lines: [string, unknown][] = [];
    const telemetry = createTelemetry({
      info: (line: unknown) => lines.push(['info', JSON.parse(String(line))]),
      error: (line: unknown) => lines.push(['error', JSON.parse(String(line))]),
    });
    telemetry.event('order-accepted', { orderId: 'A-1' });
    telemetry.alert('order-conflict', { orderId: 'A\n1' });
    expect(lines).toEqual([
      ['info', { event: 'order-accepted', orderId: 'A-1' }],
      ['error', { alert: 'order-conflict', orderId: 'A\n1' }],
    ]);
  });
});
