/**
 * Pairs of effects on ways that an order takes only while something else is wrong: turned away, put off, refused by the
 * runtime, not told because its status queue was away; and an operator's word on intake. Disturbed as the cells are: each
 * in every way with MATRIX=full, in the gate in one way, by MATRIX_SEED.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isTerminal } from '../../../functions/state/state-record.js';
import { appQueues, countDeadLetters, violations } from '../../support/matrix-invariants.js';
import { eventually, matrixOrder, startMatrixWorld } from '../../support/matrix-world.js';
import type { MatrixWorld } from '../../support/matrix-world.js';
import { actions, endDisturbance, modes } from './cell.js';
import type { Mode } from './cell.js';
import { faultOn, hitsOf } from './effect.js';
import type { Effect } from './effect.js';

const isFull = process.env['MATRIX'] === 'full';
const seed = Number(process.env['MATRIX_SEED'] ?? Date.now() % 1_000_000);
const limitMs = 120_000;

/** The ways in which a detour is disturbed in this run. */
function waysOf(detour: number): readonly Mode[] {
  return isFull ? modes : modes.filter((_mode, index) => index === (seed + detour) % modes.length);
}

/** The pair of neighbouring effects that is disturbed: killed before the second, or the first done twice or unanswered. */
type Pair = readonly [first: Effect, second: Effect];

function effect(part: Effect['part'], operation: string, entity: string, nth = 1): Effect {
  return { part, operation, entity, nth };
}

describe(`detours, MATRIX_SEED=${seed}`, () => {
  let world: MatrixWorld;

  beforeAll(async () => {
    world = await startMatrixWorld({ settings: { INTAKE_REFRESH_MS: '100' } });
  });
  afterAll(() => world.close());

  async function disturb([first, second]: Pair, mode: Mode, begin: () => Promise<unknown>): Promise<void> {
    const victim = mode.startsWith('killed') ? second : first;
    const hits = async (): Promise<number> => hitsOf(await world.stack.counters(victim.part), victim, actions[mode]);
    const before = await hits();
    await world.setFault(victim.part, faultOn(victim, actions[mode]));
    await begin();
    await eventually('the fault', async () => (await hits()) > before);
    await endDisturbance(world, mode, victim);
  }

  async function ask(path: string): Promise<void> {
    const headers = { 'content-type': 'application/json', 'x-functions-key': String(world.stack.hostKey) };
    const body = JSON.stringify({ reason: 'fault matrix' });
    await fetch(`${world.stack.hostUrl}/api/${path}`, { method: 'POST', headers, body }).catch(() => undefined);
  }

  /** Asks until the operator's word is on record, and the starter has made it known. */
  async function setIntake(verb: 'pause' | 'resume'): Promise<void> {
    await eventually(`intake to ${verb}`, async () => {
      const { pause, mode } = await intake();
      const isPaused = verb === 'pause';
      if (pause?.isPaused === isPaused) return (mode === 'closed') === isPaused;
      await ask(`intake/${verb}`);
      return false;
    });
  }

  let probes = 0;

  /** Submit believes for a moment what it has read of intake: asks it until it turns orders away, and no probe runs on. */
  async function untilTurnedAway(): Promise<void> {
    const taken = new Map<string, unknown>();
    await eventually('an order to be turned away', async () => {
      const orderId = `probe-${probes++}`;
      await world.send(matrixOrder(orderId), orderId);
      const [first] = await eventually(
        'an answer',
        () => world.statuses(orderId).length > 0 && world.statuses(orderId),
      );
      if (first?.status !== 'OrderRejected') taken.set(orderId, matrixOrder(orderId));
      return first?.status === 'OrderRejected';
    });
    expect(await violations(world, taken)).toEqual([]);
  }

  interface Pause {
    readonly isPaused: boolean;
    readonly history: readonly { readonly isPaused: boolean }[];
  }

  async function intake(): Promise<{ readonly pause: Pause | undefined; readonly mode: string | undefined }> {
    const pause = await world.control.item('intake-pause', 'intake-pause').read<Pause>();
    const admission = await world.control.item('admission', 'admission').read<{ readonly mode: string }>();
    return { pause: pause.resource, mode: admission.resource?.mode };
  }

  const claimed = effect('cosmos-db', 'replace', 'order-state', 1);
  const released = effect('cosmos-db', 'replace', 'order-state', 2);
  const claimedAgain = effect('cosmos-db', 'replace', 'order-state', 3);

  const refusedStarts = [
    { what: 'claimed, then released', pair: [claimed, released], note: 'attempt 1 claimed' },
    { what: 'released, then claimed again', pair: [released, claimedAgain], note: 'start refused by the runtime' },
  ] as const;
  const refusals = refusedStarts.flatMap((start, detour) => waysOf(detour).map((mode) => ({ ...start, mode })));

  it.each(refusals)(
    'the runtime refuses to start an order, $what: $mode (T2, T3)',
    async ({ what, pair, note, mode }) => {
      const orderId = `${what.replaceAll(/\W+/g, '-')}-${modes.indexOf(mode)}`;
      await disturb(pair, mode, async () => {
        const refusal = { operation: 'startOrchestration', action: 'refuse', error: '503', times: 1 } as const;
        await world.setFault('functions-host', { seed: 1, rules: [refusal] });
        await world.send(matrixOrder(orderId), orderId);
      });
      await world.setFault('functions-host');
      expect(await violations(world, new Map([[orderId, matrixOrder(orderId)]]))).toEqual([]);
      expect((await world.record(orderId))?.history.map((entry) => entry.note)).toContain(note);
    },
    limitMs,
  );

  it.each(waysOf(2))(
    'an order message is put off while the store is away: %s (T48)',
    async (mode) => {
      const orderId = `put-off-${modes.indexOf(mode)}`;
      const pair = [effect('service-bus', 'send', 'orders', 2), effect('service-bus', 'settle', 'orders')] as const;
      await disturb(pair, mode, async () => {
        const refusal = { operation: 'create', entity: 'orders', action: 'refuse', error: '503' } as const;
        await world.setFault('cosmos-db', { seed: 1, rules: [refusal] });
        await world.send(matrixOrder(orderId), orderId);
      });
      await world.setFault('cosmos-db');
      expect(await violations(world, new Map([[orderId, matrixOrder(orderId)]]))).toEqual([]);
    },
    limitMs,
  );

  it.each(waysOf(3))(
    'the supervisor sends the statuses of an order whose status queue was away: %s (T53, T55)',
    async (mode) => {
      const orderId = `untold-${modes.indexOf(mode)}`;
      const refusal = {
        operation: 'send',
        entity: 'status-web-shop',
        action: 'refuse',
        error: 'amqp:not-found',
      } as const;
      await world.setFault('service-bus', { seed: 1, rules: [refusal] });
      await world.send(matrixOrder(orderId), orderId);
      await eventually('the end of the order', async () => {
        const record = await world.record(orderId);
        return record !== undefined && isTerminal(record) && record.outbox.length > 0;
      });
      const pair = [
        effect('service-bus', 'send', 'status-web-shop'),
        effect('cosmos-db', 'replace', 'order-state'),
      ] as const;
      await disturb(pair, mode, async () => {
        if (mode.startsWith('killed')) await world.setFault('service-bus');
      });
      expect(await violations(world, new Map([[orderId, matrixOrder(orderId)]]))).toEqual([]);
    },
    limitMs,
  );

  it.each(waysOf(4))(
    'an order is turned away: %s (R51, T52)',
    async (mode) => {
      const orderId = `turned-away-${modes.indexOf(mode)}`;
      await setIntake('pause');
      await untilTurnedAway();
      const pair = [
        effect('service-bus', 'send', 'status-web-shop'),
        effect('service-bus', 'settle', 'orders'),
      ] as const;
      await disturb(pair, mode, () => world.send(matrixOrder(orderId), orderId));
      await eventually('the message to be done with', async () => {
        const counters = await world.stack.counters('service-bus');
        return appQueues.every((queue) => (counters[`${queue}.messages`] ?? 0) === 0);
      });
      const told = await eventually('the answer', () => world.statuses(orderId).length > 0 && world.statuses(orderId));
      expect(new Set(told.map(({ status, seq }) => `${status} ${seq}`))).toEqual(new Set(['OrderRejected 0']));
      expect(await world.record(orderId)).toBeUndefined();
      expect(await countDeadLetters(world)).toBe(0);
      await setIntake('resume');
    },
    limitMs,
  );

  it.each(waysOf(5))(
    'an operator pauses intake: %s (T83)',
    async (mode) => {
      const orderId = `paused-${modes.indexOf(mode)}`;
      await setIntake('pause');
      await setIntake('resume');
      const word = effect('cosmos-db', 'replace', 'control');
      await disturb([word, word], mode, () => {
        void ask('intake/pause');
        return Promise.resolve();
      });
      await setIntake('pause');
      await setIntake('resume');
      const { pause } = await intake();
      const words = pause?.history.map(({ isPaused }) => isPaused) ?? [];
      expect(words.at(-1)).toBe(false);
      expect(words.slice(-4)).toContain(true);
      await world.send(matrixOrder(orderId), orderId);
      expect(await violations(world, new Map([[orderId, matrixOrder(orderId)]]))).toEqual([]);
    },
    limitMs,
  );
});
