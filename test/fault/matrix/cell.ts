/** The cells of the matrix: each pair of neighbouring effects of a scenario, disturbed in each of the ways. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, matrixOrder } from '../../support/matrix-world.js';
import type { MatrixWorld } from '../../support/matrix-world.js';
import { violations } from '../../support/matrix-invariants.js';
import { faultOn, hitsOf, parseEffect } from './effect.js';
import type { Effect } from './effect.js';
import { findScenario, play } from './scenario.js';

/**
 * What is done to a pair: the host is killed between the two, and the later one, which is on its way already, comes when
 * the next host runs; the host is killed and the later one never comes, because the part that had it dies too; the answer
 * to the first is lost; the first is done twice.
 */
export const modes = ['killed, then late', 'killed, then never', 'answer lost', 'done twice'] as const;
export type Mode = (typeof modes)[number];

/** One cell. */
export interface Cell {
  readonly scenario: string;
  readonly mode: Mode;
  readonly first: string;
  readonly second: string;
}

/** Every scenario's effects in their order, as `discover` found them and as the test of the list compares them. */
export function knownEffects(): Readonly<Record<string, readonly string[]>> {
  const path = join(import.meta.dirname, 'effects.json');
  return JSON.parse(readFileSync(path, 'utf8')) as Readonly<Record<string, readonly string[]>>;
}

/** All cells. A pair that an earlier scenario has reached by the very same way is not repeated. */
export function allCells(): readonly Cell[] {
  const reached = new Set<string>();
  return Object.entries(knownEffects()).flatMap(([scenario, effects]) =>
    effects.slice(0, -1).flatMap((first, index) => {
      const second = String(effects[index + 1]);
      const way = effects.slice(0, index + 2).join(' ');
      if (reached.has(way)) return [];
      reached.add(way);
      const isOfHost = parseEffect(second).part === 'functions-host'; // It dies with the host: late is never.
      return modes
        .filter((mode) => !(isOfHost && mode === 'killed, then late'))
        .map((mode) => ({ scenario, mode, first, second }));
    }),
  );
}

/** Title of a cell. */
export function cellName({ scenario, mode, first, second }: Cell): string {
  return `${scenario}: ${first} → ${second}, ${mode}`;
}

/** What a cell showed. */
export interface CellResult {
  readonly wasHit: boolean;
  readonly problems: readonly string[];
}

/** The fault of each mode. */
export const actions = {
  'killed, then late': 'pause',
  'killed, then never': 'pause',
  'answer lost': 'cutAfterCommit',
  'done twice': 'duplicate',
} as const;

/** The last effects of an order, an orchestration's last turn for example, come after its end. */
const afterEndMs = 2_000;

/** Runs a cell on a world and checks the invariants. */
export async function runCell(world: MatrixWorld, cell: Cell, orderId: string): Promise<CellResult> {
  const scenario = findScenario(cell.scenario);
  const victim = parseEffect(cell.mode.startsWith('killed') ? cell.second : cell.first);
  const hits = async (): Promise<number> => hitsOf(await world.stack.counters(victim.part), victim, actions[cell.mode]);
  const before = await hits();
  await world.setFault(victim.part, faultOn(victim, actions[cell.mode]));
  let endedAt = Infinity;
  const playing = play(world, scenario, orderId)
    .then(
      () => [],
      (error: unknown) => [String(error)],
    )
    .finally(() => (endedAt = performance.now()));
  const fault = await eventually(
    'the fault to hit',
    async () => {
      if ((await hits()) > before) return 'hit';
      return performance.now() - endedAt > afterEndMs && 'missed';
    },
    90_000,
  );
  await endDisturbance(world, fault === 'hit' ? cell.mode : 'answer lost', victim);
  const notPlayed = await playing;
  const broken = await violations(world, new Map([[orderId, matrixOrder(orderId)]]));
  const end = (await world.record(orderId))?.processState ?? 'nowhere';
  const wrongEnd = end === scenario.end ? [] : [`ended ${end}, not ${scenario.end}`];
  return { wasHit: fault === 'hit', problems: [...notPlayed, ...broken, ...wrongEnd] };
}

/** What is left to do once the fault has hit: let go, and bring back what had to die. */
export async function endDisturbance(world: MatrixWorld, mode: Mode, { part }: Pick<Effect, 'part'>): Promise<void> {
  const { stack } = world;
  const isKill = mode.startsWith('killed');
  if (isKill) await stack.kill('functions-host');
  if (mode === 'killed, then never' && part !== 'functions-host') {
    await stack.kill(part);
    await world.setFault(part);
    await stack.restart(part);
  }
  const isLate = mode === 'killed, then late';
  if (!isLate) await world.setFault(part);
  if (isKill) await stack.restart('functions-host');
  if (isLate) await world.setFault(part);
}
