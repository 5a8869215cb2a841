/** A steady load for minutes: the memory of each part at the end beside that after its first minutes. */
import { setTimeout as delay } from 'node:timers/promises';
import { startStack } from '../local/stack.js';
import type { PartName, Stack } from '../local/stack.js';
import { startApplication } from './application.js';
import { runClosedLoop } from './closed-loop.js';
import { usageOf } from './process-usage.js';

const inFlight = 8;
const samples = 10;
const parts: readonly PartName[] = ['service-bus', 'cosmos-db', 'functions-host'];

/** Prints resident memory ten times in `minutes`, evenly. */
export async function benchSoak(minutes: number): Promise<void> {
  const stack = await startStack();
  const application = startApplication(stack.connectionString);
  let done = 0;
  try {
    const load = runClosedLoop(inFlight, minutes * 60, async (number) => {
      await application.process(`s-${number}`);
      done += 1;
    });
    for (let sample = 1; sample <= samples; sample += 1) {
      await delay((minutes * 60_000) / samples);
      console.log(`${((sample * minutes) / samples).toFixed(1).padStart(5)} min: ${done} orders; ${memoryOf(stack)}`);
    }
    await load;
  } finally {
    await application.close();
    await stack.stop();
  }
}

function memoryOf(stack: Stack): string {
  const figures = parts.map((part) => `${part} ${usageOf(stack.pid(part))?.memoryMiB.toFixed(0) ?? '?'} MiB`);
  return figures.join(', ');
}
