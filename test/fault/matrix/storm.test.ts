/** Everything at once: orders of many kinds, lost answers, refusals by the services, and parts that die, by a seed. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import type { FaultPlan } from '../../../local/faults/index.js';
import type { PartName } from '../../../local/stack.js';
import { violations } from '../../support/matrix-invariants.js';
import { matrixOrder, startMatrixWorld } from '../../support/matrix-world.js';
import type { MatrixWorld } from '../../support/matrix-world.js';
import { findScenario } from './scenario.js';

const isFull = process.env['MATRIX'] === 'full';
const seed = Number(process.env['MATRIX_SEED'] ?? Date.now() % 1_000_000);
const orderCount = isFull ? 80 : 24;
const deaths: readonly PartName[] = isFull
  ? ['functions-host', 'service-bus', 'functions-host', 'cosmos-db', 'functions-host', 'service-bus', 'cosmos-db']
  : ['functions-host', 'service-bus', 'cosmos-db'];

const kinds = ['processed', 'agent silent once', 'payment refused', 'carrier refuses'] as const;

const chance = { action: 'cutAfterCommit', probability: 0.04 } as const;

/** What goes wrong now and then while the storm lasts. */
const weather: Readonly<Record<PartName, FaultPlan>> = {
  'service-bus': {
    seed,
    rules: [
      { operation: 'send', ...chance },
      { operation: 'settle', action: 'refuse', probability: 0.05 },
      { operation: 'deliver', action: 'duplicate', probability: 0.05 },
    ],
  },
  'cosmos-db': {
    seed,
    rules: [
      { operation: 'replace', ...chance },
      { operation: 'create', ...chance },
      { operation: 'replace', action: 'refuse', error: '429', probability: 0.05 },
      { operation: 'query', action: 'refuse', error: '503', probability: 0.05 },
    ],
  },
  'functions-host': {
    seed,
    rules: [
      { operation: 'activity', ...chance },
      { operation: 'turn', ...chance },
      { operation: 'startOrchestration', ...chance },
      { operation: 'raiseEvent', ...chance },
    ],
  },
};

function plans(): readonly (readonly [PartName, FaultPlan])[] {
  return Object.entries(weather) as [PartName, FaultPlan][];
}

async function sendOrders(world: MatrixWorld): Promise<ReadonlyMap<string, unknown>> {
  const sent = new Map<string, unknown>();
  for (let index = 0; index < orderCount; index += 1) {
    const { remote } = findScenario(kinds[(seed + index) % kinds.length] ?? 'processed');
    const orderId = `storm-${index}`;
    world.remote.script(orderId, (operation, nth) => remote(operation, nth, 0));
    sent.set(orderId, matrixOrder(orderId));
    await world.send(sent.get(orderId), orderId);
  }
  return sent;
}

it(`keeps all invariants in a storm (MATRIX_SEED=${seed})`, async () => {
  const world = await startMatrixWorld({ settings: { MAX_FAILURES: '6', MAX_CALLS_PER_STEP: '24' } });
  onTestFinished(() => world.close());
  for (const [part, plan] of plans()) await world.setFault(part, plan);
  const sending = sendOrders(world);
  for (const part of deaths) {
    await delay(1_500); // The storm's own pace.
    await world.stack.kill(part);
    await world.stack.restart(part);
  }
  const sent = await sending;
  for (const [part] of plans()) await world.setFault(part);
  expect(await violations(world, sent)).toEqual([]);
}, 300_000);
