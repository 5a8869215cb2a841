import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/app-eventually.js';
import { expectProcessed } from '../support/app-expect.js';
import { submit } from '../support/app-orders.js';
import { startApp } from '../support/app-stack.js';
import type { App } from '../support/app-stack.js';

const never = '0 0 0 1 1 *';

type Counts = Readonly<Record<string, number>>;

/** What has been added to the counters of all parts. */
interface Cost {
  readonly of: (counter: string) => number;
  /** Operations on documents of any container, by container and operation; the demo's remote services are not the app. */
  readonly documents: Counts;
}

function costBetween(before: Counts, after: Counts): Cost {
  const of = (counter: string): number => (after[counter] ?? 0) - (before[counter] ?? 0);
  const isOfApp = (counter: string): boolean =>
    /^[a-z-]+\/[a-z]+$/i.test(counter) && !/^demo-ledger|Units$/.test(counter);
  const changed = Object.keys(after).filter((counter) => isOfApp(counter) && of(counter) !== 0);
  return { of, documents: Object.fromEntries(changed.map((counter) => [counter, of(counter)])) };
}

describe('an order that goes well', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({
      STARTER_SCHEDULE: never,
      SUPERVISOR_SCHEDULE: never,
      SUPERVISOR_AUDIT_SCHEDULE: never,
      HISTORY_PURGE_SCHEDULE: never,
      INTAKE_REFRESH_MS: '3600000',
    });
    await submit(app, 'first');
    await expectProcessed(app, 'first');
  });
  afterAll(() => app.stop());

  const counts = async (): Promise<Counts> => {
    const parts = ['service-bus', 'cosmos-db', 'functions-host'] as const;
    const all = await Promise.all(parts.map((part) => app.stack.counters(part)));
    return Object.assign({}, ...all) as Counts;
  };

  /** What an order adds to each counter. Nothing is read meanwhile but the counters themselves. */
  const costOf = async (orderId: string): Promise<Cost> => {
    const before = await counts();
    await submit(app, orderId);
    return eventually(async () => {
      const cost = costBetween(before, await counts());
      expect([cost.of('orchestrations.completed'), cost.of('settlements')]).toEqual([1, 7]);
      return cost;
    });
  };

  it('costs what the design allows it, in every part', async () => {
    const { of: cost, documents } = await costOf('counted');
    const { 'orders/read': readsOfOrder = 0, 'order-state/read': readsOfRecord = 0, ...changes } = documents;
    expect(changes).toEqual({
      'orders/create': 1,
      'order-state/create': 1,
      'order-state/replace': 6, // Claim, three steps, the end, the emptied outbox.
    });
    expect(readsOfOrder + readsOfRecord).toBeLessThanOrEqual(2);
    expect({
      sends: cost('sends'),
      activities: cost('activities'),
      eventsAndResults: cost('events.raised') + cost('invocations.inventory'),
      timersCreated: cost('timers.created'),
      timersCancelled: cost('timers.cancelled'),
      timersFired: cost('timers.fired'),
    }).toEqual({
      sends: 7, // The order itself, two requests, two replies, two statuses.
      activities: 5, // Four advances, and the agent in the app.
      eventsAndResults: 3,
      timersCreated: 3,
      timersCancelled: 3,
      timersFired: 0,
    });
    expect(cost('orchestrator.turns')).toBeLessThanOrEqual(9);
    expect(await openTimers('counted.1')).toBe(0);
    await expectProcessed(app, 'counted');
  });

  /** An instance that is over has no timer left, long before the deadlines: every one was cancelled. */
  const openTimers = async (instanceId: string): Promise<number> => {
    const { runtimeStatus } = (await app.instance(instanceId)) ?? {};
    return runtimeStatus === 'Completed' ? 0 : Number.NaN;
  };
});
