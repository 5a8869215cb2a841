/** The state machine under random interleavings: I1–I5, A2–A3, U1, the budget, the outbox, and that every order ends. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentReply } from '../../functions/contracts/agent-reply.js';
import { operatorVerbs } from '../../functions/operator/operate.js';
import type { Workflow } from '../../functions/state/order-workflow.js';
import { isTerminal } from '../../functions/state/state-record.js';
import type { StateRecord } from '../../functions/state/state-record.js';
import { undoWorkflow } from '../support/builders.js';
import { createOrderWorld } from '../support/order-world.js';
import type { Behaviour, OrderWorld, StoreFaults } from '../support/order-world.js';
import { seededRandom } from '../support/faulty.js';
import { watchWrites } from '../support/write-checks.js';

const orderIds = ['A-1', 'B-2'] as const;
const behaviours: readonly Behaviour[] = [
  'succeed',
  'lostReply',
  'silent',
  'refuse',
  'refuseAfterEffect',
  'fail',
  'defer',
];

/** One thing that happens; `pick` chooses among what there is. */
interface Happening {
  readonly kind:
    | 'submit'
    | 'start'
    | 'turn'
    | 'serve'
    | 'deliver'
    | 'foreign'
    | 'supervise'
    | 'wait'
    | 'restart'
    | 'operate'
    | 'crash';
  readonly process: number;
  readonly pick: number;
  readonly behaviour: Behaviour;
}

const happening = (kinds: readonly Happening['kind'][]): fc.Arbitrary<Happening> =>
  fc.record({
    kind: fc.constantFrom(...kinds),
    process: fc.nat(2),
    pick: fc.nat(1_000),
    behaviour: fc.oneof({ weight: 3, arbitrary: fc.constant<Behaviour>('succeed') }, fc.constantFrom(...behaviours)),
  });

const ordinary = ['submit', 'start', 'start', 'turn', 'turn', 'turn', 'turn', 'serve', 'serve', 'serve'] as const;
const disturbing = [
  'deliver',
  'deliver',
  'deliver',
  'foreign',
  'supervise',
  'supervise',
  'wait',
  'wait',
  'restart',
] as const;

/** Several happenings at the same time, one after the other. */
const storyOf = (kinds: readonly Happening['kind'][]): fc.Arbitrary<Happening[][]> =>
  fc.array(fc.array(happening(kinds), { minLength: 1, maxLength: 3 }), { minLength: 20, maxLength: 70 });

type Handler = (world: OrderWorld, happening: Happening) => Promise<unknown>;

const nothing = Promise.resolve();

const chosen = <Item>(items: readonly Item[], pick: number): Item | undefined =>
  items[pick % Math.max(1, items.length)];
const orderOf = (pick: number): string => chosen(orderIds, pick) ?? 'A-1';
const foreignToken = '99999999-9999-4999-8999-999999999999';

const handlers: Readonly<Record<Happening['kind'], Handler>> = {
  submit: (world, { process, pick }) => world.submit(process, orderOf(pick)),
  start: (world, { process }) => world.start(process),
  turn: (world, { process, pick, behaviour }) => {
    const attempt = chosen(world.attempts, pick);
    return attempt === undefined ? nothing : world.turn(process, attempt, behaviour);
  },
  serve: (world, { pick, behaviour }) => {
    const request = chosen(world.requests(), pick);
    return request === undefined ? nothing : world.serve(request, behaviour);
  },
  deliver: (world, { process, pick }) => {
    const reply = chosen(world.replies, pick);
    return reply === undefined ? nothing : world.deliver(process, reply);
  },
  foreign: (world, { process, pick }) => {
    const reply = chosen(world.replies, pick);
    return reply === undefined ? nothing : world.deliver(process, { ...reply, replyToken: foreignToken });
  },
  supervise: (world, { process }) => world.supervise(process),
  operate: (world, { process, pick }) =>
    world.operate(process, orderOf(pick), chosen(operatorVerbs, pick) ?? 'resubmit'),
  crash: (world, { pick }) => {
    const attempt = chosen(world.attempts, pick);
    const isSpared =
      world.attempts.filter(({ orderId, hasCrashed }) => hasCrashed && orderId === attempt?.orderId).length >= 3;
    if (attempt !== undefined && !isSpared) world.crash(attempt);
    return nothing;
  },
  restart: (world, { process }) => {
    world.restart(process);
    return nothing;
  },
  wait: (world, { pick }) => {
    world.clock.advance(chosen([100, 1_000, 5_000, 20_000], pick) ?? 0);
    return nothing;
  },
};

/** Faults stop, agents answer, time passes: what is left must end. */
async function settle(world: OrderWorld): Promise<void> {
  world.stopFaults();
  for (const orderId of orderIds) await world.submit(0, orderId);
  for (let round = 0; round < 80; round += 1) {
    world.clock.advance(3_000);
    await world.start(0);
    for (let wakes = 0; wakes < 2; wakes += 1) {
      for (const attempt of world.attempts) await world.turn(1, attempt, 'succeed');
      const known = world.replies.length;
      for (const request of world.requests()) await world.serve(request, 'succeed');
      for (const reply of world.replies.slice(known)) await world.deliver(2, reply);
    }
    for (const attempt of world.attempts) await world.turn(1, attempt, 'succeed');
    await world.supervise(0);
    if (orderIds.every((orderId) => hasEnded(world.database.record(orderId)))) return;
  }
}

const hasEnded = (record: StateRecord): boolean => isTerminal(record) && record.outbox.length === 0;

function checkEnd(world: OrderWorld, record: StateRecord, endings: number): void {
  const { orderId } = record;
  expect(hasEnded(record), `every order ends: ${JSON.stringify(record)}`).toBe(true);
  const statuses = world.sender.queued('status-web-shop').filter(({ correlationId }) => correlationId === orderId);
  const seqs = statuses.map(({ body }) => (body as { seq: number }).seq);
  expect(seqs, 'one status a number').toEqual([...new Set(seqs)]);
  const kinds = statuses.map(({ body }) => (body as { status: string }).status);
  expect(kinds.filter((kind) => kind === 'OrderReceived')).toHaveLength(1);
  expect(
    kinds.filter((kind) => kind === 'OrderCompleted' || kind === 'OrderFailed'),
    'one status an ending',
  ).toHaveLength(endings);
  const entries = record.steps.map(({ id }) => id).map((service) => world.ledger.get(`${orderId}.${service}`));
  if (record.processState === 'Processed') {
    for (const entry of entries)
      expect(entry).toMatchObject({ effect: { key: expect.any(String) as string }, undo: null });
  }
  const wasSkipped = record.history.some(({ note }) => note.startsWith('skip undo'));
  if (record.processState === 'Compensated' && !wasSkipped) {
    for (const entry of entries) expect((entry?.effect ?? null) === null || entry?.undo !== null, 'U1').toBe(true);
  }
}

async function live(
  story: readonly (readonly Happening[])[],
  seed: number,
  faults: StoreFaults,
  workflow?: Workflow,
): Promise<OrderWorld> {
  const world = createOrderWorld(seed, faults, workflow);
  const { endings } = watchWrites(world);
  for (const moment of story) await Promise.all(moment.map((one) => handlers[one.kind](world, one)));
  await settle(world);
  for (const orderId of orderIds) checkEnd(world, world.database.record(orderId), endings.get(orderId) ?? 0);
  return world;
}

describe('orders under random interleavings', { timeout: 120_000 }, () => {
  it('keep the invariants and end, without faults of the store', async () => {
    await fc.assert(
      fc.asyncProperty(storyOf([...ordinary, ...disturbing]), fc.nat(), async (story, seed) => {
        await live(story, seed, {});
      }),
      { numRuns: 100, seed: 2 },
    );
  });

  it('keep the invariants and end, with lost acknowledgements, conflicts, outages and stale reads', async () => {
    await fc.assert(
      fc.asyncProperty(storyOf([...ordinary, ...disturbing]), fc.nat(), async (story, seed) => {
        await live(story, seed, { faulty: 0.15, stale: 0.05 });
      }),
      { numRuns: 200, seed: 3 },
    );
  });

  it('are all processed without a counted failure, although the runtime fails three attempts of each', async () => {
    const goodStory = storyOf([...ordinary, 'deliver', 'deliver', 'supervise', 'crash', 'crash']).map((story) =>
      story.map((moment) => moment.map((one) => ({ ...one, behaviour: 'succeed' as const }))),
    );
    let crashes = 0;
    await fc.assert(
      fc.asyncProperty(goodStory, fc.nat(), async (story, seed) => {
        const world = await live(story, seed, {});
        crashes += world.attempts.filter(({ hasCrashed }) => hasCrashed).length;
        for (const orderId of orderIds) {
          expect(world.database.record(orderId)).toMatchObject({ processState: 'Processed', failureCount: 0 });
        }
      }),
      { numRuns: 100, seed: 6 },
    );
    expect(crashes).toBeGreaterThan(100);
  });

  it('are never handed to an operator by a failure when their workflow undoes them after the last one (RC4, R36)', async () => {
    const endings: string[] = [];
    await fc.assert(
      fc.asyncProperty(storyOf([...ordinary, ...disturbing]), fc.nat(), async (story, seed) => {
        const world = await live(story, seed, { faulty: 0.05, stale: 0.05 }, undoWorkflow);
        const states = orderIds.map((orderId) => world.database.record(orderId).processState);
        expect(states).not.toContain('Error');
        endings.push(...states);
      }),
      { numRuns: 100, seed: 5 },
    );
    expect(endings).toEqual(expect.arrayContaining(['Processed', 'Compensated']));
  });

  it('keep the invariants and end, with an operator who acts at any time (T83)', async () => {
    await fc.assert(
      fc.asyncProperty(storyOf([...ordinary, ...disturbing, 'operate', 'operate']), fc.nat(), async (story, seed) => {
        await live(story, seed, { faulty: 0.1, stale: 0.05 });
      }),
      { numRuns: 200, seed: 4 },
    );
  });
});

/** Everything works but the reads: all parts run in turn, each time in another process, until the orders have ended. */
async function runUndisturbed(world: OrderWorld, seed: number): Promise<readonly StateRecord[]> {
  const random = seededRandom(seed);
  const anyProcess = (): number => Math.floor(random() * 3);
  const taken = new Set<string>();
  const done = new Set<AgentReply>();
  for (const orderId of orderIds) await world.submit(anyProcess(), orderId);
  for (let round = 0; round < 100; round += 1) {
    world.clock.advance(100);
    await world.start(anyProcess());
    for (const attempt of world.attempts) await world.turn(anyProcess(), attempt, 'succeed');
    for (const request of world.requests().filter(({ requestId }) => !taken.has(requestId))) {
      taken.add(request.requestId);
      await world.serve(request, 'succeed');
    }
    for (const reply of world.replies.filter((one) => !done.has(one))) {
      if (await world.deliver(anyProcess(), reply)) done.add(reply);
    }
    await world.supervise(anyProcess());
  }
  return orderIds.map((orderId) => world.database.record(orderId));
}

describe(
  'orders whose stores show earlier versions now and then, and nothing else is wrong',
  { timeout: 120_000 },
  () => {
    const run = async (seed: number, stale: number): Promise<readonly StateRecord[]> => {
      const world = createOrderWorld(seed, { stale });
      const records = await runUndisturbed(world, seed);
      expect(world.telemetry.alerts).toEqual([]);
      return records;
    };

    it('are processed by their first attempt, one read of twenty being stale', async () => {
      for (let seed = 1; seed <= 150; seed += 1) {
        for (const record of await run(seed, 0.05)) {
          expect(record).toMatchObject({ processState: 'Processed', failureCount: 0, attempt: 1, outbox: [] });
        }
      }
    });

    it('are processed, one read of five being stale', async () => {
      for (let seed = 1; seed <= 150; seed += 1) {
        for (const record of await run(seed, 0.2))
          expect(record).toMatchObject({ processState: 'Processed', outbox: [] });
      }
    });
  },
);
