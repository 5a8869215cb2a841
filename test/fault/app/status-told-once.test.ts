import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../support/app-eventually.js';
import { expectProcessed } from '../../support/app-expect.js';
import { submit, untilRecord } from '../../support/app-orders.js';
import { startApp } from '../../support/app-stack.js';
import type { App } from '../../support/app-stack.js';

const never = '0 0 0 1 1 *';
const withMargin = { withinMs: 40_000 };
const sweeps = 4;

/** The broker's client tries once more by itself. */
const sendsPerTry = 2;

describe("an application's status queue that takes nothing", () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({ SUPERVISOR_SCHEDULE: never, STEP_DEADLINE_MS: '30000' });
  });
  afterAll(() => app.stop());

  const told = (orderId: string): number => app.log.events('status-undeliverable', orderId).length;
  const refuse = (error: string): Promise<void> => {
    const rules = [{ operation: 'send', entity: 'status-web-shop', action: 'refuse', error } as const];
    return app.stack.setFaults('service-bus', { seed: 1, rules });
  };
  const attempts = async (): Promise<number> =>
    (await app.stack.counters('service-bus'))['faults/send/status-web-shop/refuse'] ?? 0;

  const sweep = async (): Promise<void> => {
    const runs = (): number => app.log.events('supervisor-run').length;
    const before = runs();
    await app.invoke('supervisor');
    await eventually(() => {
      expect(runs()).toBe(before + 1);
    });
  };
  /** The supervisor leaves young statuses alone. */
  const untilSwept = async (): Promise<void> => {
    const before = await attempts();
    await eventually(async () => {
      await sweep();
      expect(await attempts()).toBeGreaterThan(before);
    });
  };
  const unsentOrders = async (name: string): Promise<readonly string[]> => {
    const orderIds = [1, 2, 3].map((number) => `${name}-${number}`);
    for (const orderId of orderIds) await submit(app, orderId);
    for (const orderId of orderIds) {
      const record = await untilRecord(app, orderId, ({ processState }) => processState === 'Processed', withMargin);
      expect(record).toMatchObject({ attempt: 1, failureCount: 0, outbox: [{ seq: 1 }, { seq: 2 }] });
    }
    return orderIds;
  };

  it.each([
    ['missing', 'amqp:not-found'],
    ['forbidden', 'amqp:unauthorized-access'],
    ['full', 'amqp:resource-limit-exceeded'],
  ])(
    'because it is %s is told once an order, and tried once a sweep (T55, C24, C52)',
    async (name, error) => {
      await refuse(error);
      const orderIds = await unsentOrders(name);
      await untilSwept();
      const before = await attempts();
      for (let run = 0; run < sweeps; run += 1) await sweep();
      expect((await attempts()) - before).toBeLessThanOrEqual(sweeps * sendsPerTry);
      expect(orderIds.map(told)).toEqual([1, 1, 1]);

      await app.stack.setFaults('service-bus');
      await sweep();
      for (const orderId of orderIds) await expectProcessed(app, orderId, { patience: withMargin });
      expect(orderIds.map(told)).toEqual([1, 1, 1]);
    },
    90_000,
  );

  it('is not told again by a host that was started anew (C52)', async () => {
    await refuse('amqp:not-found');
    const orderIds = await unsentOrders('restarted');
    await app.stack.kill('functions-host');
    await app.stack.restart('functions-host');
    await untilSwept();
    expect(orderIds.map(told)).toEqual([1, 1, 1]);
    expect(orderIds.flatMap((orderId) => app.log.alerts(orderId))).toEqual([]);
  }, 90_000);
});
