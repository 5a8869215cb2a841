import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectRoot } from './support/bicep.js';
import { at } from './support/resources.js';

describe.each(['host.json', 'host.dts.json'])('%s', (name) => {
  const file: unknown = JSON.parse(readFileSync(join(projectRoot, name), 'utf8'));

  // Unsampled, these categories write 150 KB per order: each request of the SDKs twice, each step of the task hub.
  it.each(['Azure', 'DurableTask', 'Host.Triggers.DurableTask'])(
    'lets the log category %s report warnings only',
    (category) => {
      expect(at(file, 'logging.logLevel')).toMatchObject({ [category]: 'Warning' });
    },
  );

  it('keeps the events of the app', () => {
    expect(at(file, 'logging.logLevel.default')).toBe('Information');
  });

  it('names the version of distributed tracing, so that no start recommends one, and keeps inputs out of traces', () => {
    expect(at(file, 'extensions.durableTask.tracing')).toEqual({ version: 'V2', traceInputsAndOutputs: false });
  });
});
