/** Worlds for cells that run at the same time. A world in which a cell failed is not used again. */
import { startMatrixWorld } from '../../support/matrix-world.js';
import type { MatrixWorld } from '../../support/matrix-world.js';

/** Hands out worlds, one cell each. */
export interface WorldPool {
  use<Result>(work: (world: MatrixWorld) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/** A pool of at most so many worlds; each is started when it is first needed. */
export function createWorldPool(size: number): WorldPool {
  const idle: MatrixWorld[] = [];
  const waiting: (() => void)[] = [];
  let inUse = 0;

  const enter = async (): Promise<void> => {
    if (inUse < size) inUse += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
  };
  const leave = (): void => {
    const next = waiting.shift();
    if (next === undefined) inUse -= 1;
    else next();
  };

  return {
    use: async (work) => {
      await enter();
      let world: MatrixWorld | undefined;
      try {
        world = idle.pop() ?? (await startMatrixWorld());
        const result = await work(world);
        idle.push(world);
        return result;
      } catch (error) {
        await world?.close();
        throw error;
      } finally {
        leave();
      }
    },
    close: async () => {
      await Promise.all(idle.splice(0).map((world) => world.close()));
    },
  };
}
