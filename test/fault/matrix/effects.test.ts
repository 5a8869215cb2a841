/**
 * The matrix covers every effect: what the app does now is compared with the list that the cells are made of. A new durable
 * write, send, start, raise, remote call or settlement fails here until `npm run test:matrix -- discover` has added it.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startMatrixWorld } from '../../support/matrix-world.js';
import type { MatrixWorld } from '../../support/matrix-world.js';
import { knownEffects } from './cell.js';
import { discover, discoverySettings } from './discover.js';
import { effectKinds, parseEffect } from './effect.js';
import { findScenario, play, scenarios } from './scenario.js';
import { unreachedKinds } from './unreached.js';

const mode = process.env['MATRIX'];
/** In the gate: the ways that together reach most kinds, without waiting for several deadlines. */
const quickOnes = ['processed', 'agent silent once', 'undo fails, then retried'];
const chosen = scenarios.map(({ name }) => name).filter((name) => mode !== undefined || quickOnes.includes(name));

describe('the list of effects', () => {
  let world: MatrixWorld;
  const found: Record<string, readonly string[]> = {};

  beforeAll(async () => {
    world = await startMatrixWorld({ settings: discoverySettings });
    await play(world, findScenario('processed'), 'warm-up');
  });
  afterAll(async () => {
    if (mode === 'discover') {
      writeFileSync(join(import.meta.dirname, 'effects.json'), `${JSON.stringify(found, null, 2)}\n`);
    }
    await world.close();
  });

  it.each(chosen)(
    'holds every effect of an order that is %s',
    async (name) => {
      const effects = await discover(world, findScenario(name), `order-${chosen.indexOf(name)}`);
      found[name] = effects;
      if (mode !== 'discover') expect([...effects].sort()).toEqual([...(knownEffects()[name] ?? [])].sort());
    },
    120_000,
  );

  it('says of every kind of effect that no order reaches why it does not', async () => {
    const reached = new Set(Object.values(knownEffects()).flatMap((effects) => effects.map(kindOf)));
    const kinds = await effectKinds(world.stack.hostUrl);
    const unreached = kinds.map((kind) => kindOf(`${kind.part}/${kind.operation}/${kind.entity}#1`));
    expect(unreached.filter((kind) => !reached.has(kind))).toEqual(Object.keys(unreachedKinds));
  });
});

function kindOf(name: string): string {
  const { part, operation, entity } = parseEffect(name);
  return `${part}/${operation}/${entity}`;
}
