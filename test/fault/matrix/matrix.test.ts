/**
 * The cells of the fault matrix. The gate runs a seeded sample; `npm run test:matrix` runs all of them (MATRIX=full).
 * MATRIX_SEED repeats a sample.
 */
import { afterAll, describe, expect, it } from 'vitest';
import { allCells, cellName, runCell } from './cell.js';
import type { Cell } from './cell.js';
import { createWorldPool } from './world-pool.js';

const isFull = process.env['MATRIX'] === 'full';
const seed = Number(process.env['MATRIX_SEED'] ?? Date.now() % 1_000_000);
const sampleSize = 16;
const cellLimitMs = 3_600_000; // Most of it is waiting for a free world.

const all = allCells();
const chosen = isFull ? all : sample(all, seed);
const pool = createWorldPool(isFull ? 4 : 2);

afterAll(() => pool.close());

describe(`the fault matrix: ${chosen.length} of ${all.length} cells, MATRIX_SEED=${seed}`, () => {
  for (const cell of chosen) {
    it.concurrent(
      `${cellName(cell)} keeps all invariants`,
      async () => {
        await pool.use(async (world) => {
          const { wasHit, problems } = await runCell(world, cell, `cell-${all.indexOf(cell)}`);
          expect(problems).toEqual([]);
          expect(wasHit).toBe(true);
        });
      },
      cellLimitMs,
    );
  }
});

/** A sample without repeats, the same for the same seed. */
function sample(cells: readonly Cell[], from: number): readonly Cell[] {
  const left = [...cells];
  let state = from;
  return Array.from({ length: Math.min(sampleSize, left.length) }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return left.splice(Math.floor((state / 2 ** 32) * left.length), 1)[0];
  }).filter((cell) => cell !== undefined);
}
