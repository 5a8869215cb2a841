/**
 * Finds the effects of a scenario by running it in single steps: every effect of every part is held until nothing else
 * happens, written down and let go.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { FaultPlan } from '../../../local/faults/index.js';
import type { PartName } from '../../../local/stack.js';
import type { MatrixWorld } from '../../support/matrix-world.js';
import { effectKinds, effectName, hitsOf } from './effect.js';
import type { Effect } from './effect.js';
import { play } from './scenario.js';
import type { Scenario } from './scenario.js';

/** Settings of a world for discovery: nothing runs by the clock, and no deadline passes while effects are held. */
export const discoverySettings: Readonly<Record<string, string>> = {
  STARTER_SCHEDULE: '0 0 0 1 1 *',
  SUPERVISOR_SCHEDULE: '0 0 0 1 1 *',
  STEP_DEADLINE_MS: '5000',
  CLAIM_LEASE_MS: '60000',
};

const parts: readonly PartName[] = ['functions-host', 'cosmos-db', 'service-bus'];
const pollMs = 5;
/** Nothing new for so long: what is held now is all that can happen. */
const quietMs = 40;
/** Nothing held for so long: the order waits for a timer-triggered function. */
const idleMs = 800;

type Kind = Omit<Effect, 'nth'>;

interface Held {
  readonly kind: Kind;
  readonly hits: number;
}

/** Holds and lets go, one part at a time. */
interface Stepper {
  readonly found: string[];
  /** Lets the next effects go; false when nothing is held. */
  step(): Promise<boolean>;
}

/** The effects of the scenario, in the order in which they happen; what happens at once is ordered by part. */
export async function discover(world: MatrixWorld, scenario: Scenario, orderId: string): Promise<readonly string[]> {
  const stepper = await createStepper(world, await effectKinds(world.stack.hostUrl));
  const way = { isOver: false };
  const playing = play(world, scenario, orderId).finally(() => {
    way.isOver = true;
  });
  const timers = ['supervisor', 'starter'];
  let lastStep = performance.now();
  for (;;) {
    if (await stepper.step()) lastStep = performance.now();
    if (performance.now() - lastStep < idleMs) continue;
    if (way.isOver) break;
    const next = timers.shift() ?? '';
    timers.push(next);
    await runByHand(world, next);
    lastStep = performance.now();
  }
  await playing;
  await Promise.all(parts.map((part) => world.setFault(part)));
  return stepper.found;
}

async function createStepper(world: MatrixWorld, kinds: readonly Kind[]): Promise<Stepper> {
  const trap = (part: PartName): FaultPlan => ({
    seed: 1,
    rules: kinds
      .filter((kind) => kind.part === part)
      .map(({ operation, entity }) => ({ operation, entity, action: 'pause' })),
  });
  const before = new Map((await readHits(world, kinds)).map(({ kind, hits }) => [kind, hits]));
  const released = new Map<Kind, number>();
  const found: string[] = [];
  await Promise.all(parts.map((part) => world.setFault(part, trap(part))));
  const letGo = ({ kind, hits }: Held): void => {
    const earlier = released.get(kind) ?? 0;
    released.set(kind, earlier + hits);
    for (let nth = earlier + 1; nth <= earlier + hits; nth += 1) found.push(effectName({ ...kind, nth }));
  };
  return {
    found,
    step: async () => {
      const held = await heldNow(world, kinds, (kind) => (before.get(kind) ?? 0) + (released.get(kind) ?? 0));
      const part = held[0]?.kind.part;
      if (part === undefined) return false;
      held.filter(({ kind }) => kind.part === part).forEach(letGo);
      await world.setFault(part, trap(part));
      return true;
    },
  };
}

/** Runs a timer-triggered function now, as its schedule would. */
export async function runByHand({ stack }: MatrixWorld, name: string): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  await fetch(`${stack.hostUrl}/admin/functions/${name}`, { method: 'POST', headers, body: '{}' });
}

async function heldNow(
  world: MatrixWorld,
  kinds: readonly Kind[],
  known: (kind: Kind) => number,
): Promise<readonly Held[]> {
  let last = -1;
  for (let quietSince = performance.now(); ;) {
    const held = (await readHits(world, kinds))
      .map(({ kind, hits }) => ({ kind, hits: hits - known(kind) }))
      .filter(({ hits }) => hits > 0);
    const total = held.reduce((sum, { hits }) => sum + hits, 0);
    if (total !== last) quietSince = performance.now();
    if (performance.now() - quietSince >= quietMs) return held;
    last = total;
    await delay(pollMs);
  }
}

/** Hits of every kind so far, in the order of the kinds. */
async function readHits({ stack }: MatrixWorld, kinds: readonly Kind[]): Promise<readonly Held[]> {
  const counters = new Map(await Promise.all(parts.map(async (part) => [part, await stack.counters(part)] as const)));
  return kinds.map((kind) => ({ kind, hits: hitsOf(counters.get(kind.part) ?? {}, kind, 'pause') }));
}
