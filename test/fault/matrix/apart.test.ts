/**
 * Effects that are no order's own, disturbed as the cells of the matrix are: setting a bad message aside, and the control
 * document that the starter keeps for intake.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { appQueues, violations } from '../../support/matrix-invariants.js';
import { sendTo } from '../../support/matrix-agent.js';
import { eventually, matrixOrder, startMatrixWorld } from '../../support/matrix-world.js';
import type { MatrixWorld } from '../../support/matrix-world.js';
import { actions, endDisturbance, modes } from './cell.js';
import type { Mode } from './cell.js';
import { faultOn, hitsOf } from './effect.js';
import type { Effect } from './effect.js';
import { findScenario, play } from './scenario.js';

/** The recovery index is an option; with it on, all else goes on as without it. */
const settings = { RECOVERY_INDEX_ENABLED: 'true', RECOVERY_SCAN_EVERY_MINUTES: '1' };

describe('an effect that is no order’s own', () => {
  let world: MatrixWorld;

  beforeAll(async () => {
    world = await startMatrixWorld({ settings });
  });
  afterAll(() => world.close());

  async function disturb(victim: Effect, mode: Mode, begin: () => Promise<void>): Promise<void> {
    const hits = async (): Promise<number> => hitsOf(await world.stack.counters(victim.part), victim, actions[mode]);
    const before = await hits();
    await world.setFault(victim.part, faultOn(victim, actions[mode]));
    await begin();
    await eventually('the fault', async () => (await hits()) > before);
    await endDisturbance(world, mode, victim);
  }

  async function count(queue: string, kind: 'messages' | 'locked'): Promise<number> {
    return (await world.stack.counters('service-bus'))[`${queue}.${kind}`] ?? 0;
  }

  const settingAside = { part: 'service-bus', operation: 'send', entity: 'orders-dead-letter', nth: 1 } as const;
  const completing = { part: 'service-bus', operation: 'settle', entity: 'orders', nth: 1 } as const;

  it.each(modes)('a bad message is set aside and completed: %s (T47, T51, C105)', async (mode) => {
    const before = await count('orders-dead-letter', 'messages');
    const victim = mode.startsWith('killed') ? completing : settingAside;
    await disturb(victim, mode, () => sendTo(world.bus, 'orders', Buffer.from('no order'), `bad-${mode}`));
    await eventually('the message to be done with', async () => {
      const waiting = await Promise.all(appQueues.map((queue) => count(queue, 'messages')));
      return waiting.every((messages) => messages === 0);
    });
    const aside = (await count('orders-dead-letter', 'messages')) - before;
    expect([1, 2]).toContain(aside); // A copy of a dead letter does no harm, a lost one does (decision 0004).
  });

  const noting = { part: 'cosmos-db', operation: 'upsert', entity: 'recovery-index', nth: 2 } as const;

  it.each(modes)('a deadline is noted in the recovery index: %s (T69)', async (mode) => {
    const orderId = `noted-${modes.indexOf(mode)}`;
    const setAside = await count('orders-dead-letter', 'messages');
    let playing: Promise<void> | undefined;
    await disturb(noting, mode, () => {
      playing = play(world, findScenario('agent silent once'), orderId);
      return Promise.resolve();
    });
    await playing;
    expect(await violations(world, new Map([[orderId, matrixOrder(orderId)]]), setAside)).toEqual([]);
  });

  const refreshing = { part: 'cosmos-db', operation: 'upsert', entity: 'control', nth: 1 } as const;

  it.each(modes)('the starter keeps the control document: %s (T52)', async (mode) => {
    const orderId = `control-${modes.indexOf(mode)}`;
    const setAside = await count('orders-dead-letter', 'messages');
    await disturb(refreshing, mode, () => Promise.resolve());
    await play(world, findScenario('processed'), orderId);
    expect(await violations(world, new Map([[orderId, matrixOrder(orderId)]]), setAside)).toEqual([]);
  });
});
