/** Every known hole of the pattern has a test that shows its remedy, or a reason why it cannot occur here. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { settingsSchema } from '../../../functions/config/config.js';
import { findProjectRoot } from '../../../local/project.js';
import traps from './traps.json' with { type: 'json' };

interface Trap {
  readonly id: string;
  readonly tests?: readonly string[];
  readonly reason?: string;
}

const root = findProjectRoot();
const testTexts = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => readFileSync(join(root, 'test', name), 'utf8'));

function isTested({ id, tests = [] }: Trap): boolean {
  const isNamed = testTexts.some((text) => new RegExp(`\\b${id}\\b`).test(text));
  return isNamed || (tests.length > 0 && tests.every((test) => existsSync(join(root, test))));
}

describe('the traps', () => {
  it('are all listed', () => {
    expect(traps.map(({ id }) => id)).toEqual(Array.from({ length: 85 }, (_, index) => `T${index + 1}`));
  });

  it('each have a test or a reason', () => {
    const open = (traps as readonly Trap[]).filter((trap) => trap.reason === undefined && !isTested(trap));
    expect(open.map(({ id }) => id)).toEqual([]);
  });

  it('hold no durable timer longer than six days: a longer step deadline is refused (T22)', () => {
    const sixDaysMs = 6 * 24 * 3_600_000;
    const { STEP_DEADLINE_MS: schema } = settingsSchema.shape;
    expect(schema.safeParse(String(sixDaysMs)).success).toBe(false);
    expect(schema.safeParse(String(24 * 3_600_000)).success).toBe(true);
  });
});
