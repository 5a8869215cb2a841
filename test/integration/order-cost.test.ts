import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/app-eventually.js';
import { expectProcessed } from '../support/app-expect.js';
import { submit } from '../support/app-orders.js';
import { startApp } from '../support/app-stack.js';
import type { App } from '../support/app-stack.js';

const never = '0 0 0 1 1 *';

type Counts = Readonly<Record<string, number>>;

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
  const costOf = async (orderId: string): Promise<(counter: string) => number> => {
    const before = await counts();
    const added = (after: Counts) => (counter: string) => (after[counter] ?? 0) - (before[counter] ?? 0);
    await submit(app, orderId);
    return eventually(async () => {
      const cost = added(await counts());
      expect([cost('orchestrations.completed'), cost('settlements')]).toEqual([1, 7]);
      return cost;
    });
  };

  it('costs what the design allows it, in every part', async () => {
    const cost = await costOf('counted');
    const documents = (operation: string): number => cost(`orders/${operation}`) + cost(`order-state/${operation}`);
    expect({
      sends: cost('sends'),
      creates: documents('create'),
      replaces: documents('replace'),
      queries: documents('query'),
      activities: cost('activities'),
      eventsAndResults: cost('events.raised') + cost('invocations.inventory'),
      timersCreated: cost('timers.created'),
      timersCancelled: cost('timers.cancelled'),
      timersFired: cost('timers.fired'),
    }).toEqual({
      sends: 7, // The order itself, two requests, two replies, two statuses.
      creates: 2,
      replaces: 6, // Claim, three steps, the end, the emptied outbox.
      queries: 0,
      activities: 5, // Four advances, and the agent in the app.
      eventsAndResults: 3,
      timersCreated: 3,
      timersCancelled: 3,
      timersFired: 0,
    });
    expect(documents('read')).toBeLessThanOrEqual(2);
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
