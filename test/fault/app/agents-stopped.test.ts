import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../support/app-eventually.js';
import { expectProcessed } from '../../support/app-expect.js';
import { submit } from '../../support/app-orders.js';
import { startSecondHost } from '../../support/app-second-host.js';
import type { SecondHost } from '../../support/app-second-host.js';
import { startApp } from '../../support/app-stack.js';
import type { App } from '../../support/app-stack.js';

const maxInFlight = 8;
const highWater = 16;
const wave = 6;
const waves = 9;

describe('while no agent takes requests', () => {
  let app: App;
  let agents: SecondHost | undefined;
  beforeAll(async () => {
    app = await startApp({
      'AzureWebJobs.payment-agent.Disabled': 'true',
      MAX_IN_FLIGHT: String(maxInFlight),
      INTAKE_HIGH_WATER: String(highWater),
      INTAKE_LOW_WATER: '4',
      STEP_DEADLINE_MS: '120000',
    });
  });
  afterAll(async () => {
    await agents?.stop();
    await app.stop();
  });

  const ids = Array.from({ length: wave * waves }, (_, index) => `load-${index}`);
  const isAccepted = (orderId: string): boolean => app.log.events('order-accepted', orderId).length > 0;
  const isTurnedAway = (orderId: string): boolean =>
    app.statuses['web-shop'].of(orderId).some(({ status }) => status === 'OrderRejected');

  const count = async (container: string, condition = 'true'): Promise<number> => {
    const query = `SELECT VALUE COUNT(1) FROM c WHERE ${condition}`;
    const { resources } = await app.database.container(container).items.query<number>(query).fetchAll();
    return resources[0] ?? 0;
  };

  /** Two refreshes of the control document: the second has counted all that was stored before this was called. */
  const untilCounted = async (): Promise<void> => {
    const refreshed = async (): Promise<string> => {
      const { resource } = await app.database
        .container('control')
        .item('admission', 'admission')
        .read<{ at: string }>();
      return resource?.at ?? '';
    };
    for (let times = 0; times < 2; times += 1) {
      const before = await refreshed();
      await eventually(async () => {
        expect(await refreshed()).not.toBe(before);
      });
    }
  };

  it('intake closes, the backlog stays bounded, and all that was accepted is done when they are back (R51, T52)', async () => {
    for (let first = 0; first < ids.length; first += wave) {
      const some = ids.slice(first, first + wave);
      await Promise.all(some.map((orderId) => submit(app, orderId)));
      await eventually(() => {
        expect(some.filter((orderId) => !isAccepted(orderId) && !isTurnedAway(orderId))).toEqual([]);
      });
      await untilCounted();
    }
    const accepted = ids.filter(isAccepted);
    expect(ids.filter(isTurnedAway)).toHaveLength(ids.length - accepted.length);
    expect(ids.slice(-wave).every(isTurnedAway)).toBe(true);

    // What was turned away leaves nothing behind; what was accepted is bounded by the limits and one wave, in every part.
    const bound = highWater + maxInFlight + 2 * wave;
    expect(accepted.length).toBeGreaterThanOrEqual(highWater);
    expect(accepted.length).toBeLessThanOrEqual(bound);
    expect(await count('orders')).toBe(accepted.length);
    expect(await count('order-state')).toBe(accepted.length);
    expect(await count('order-state', "c.processState = 'Processing'")).toBeLessThanOrEqual(maxInFlight + wave);
    const { 'payment-requests.sends': requests = 0 } = await app.stack.counters('service-bus');
    expect(requests).toBeLessThanOrEqual(maxInFlight + wave);

    agents = await startSecondHost(app, ['payment-agent']);
    for (const orderId of accepted) {
      expect(await expectProcessed(app, orderId, { patience: { withinMs: 60_000 } })).toMatchObject({ attempt: 1 });
    }
    expect(app.orderDeadLetters.messages).toEqual([]);
    await untilCounted();
    await submit(app, 'afterwards');
    await expectProcessed(app, 'afterwards');
  }, 150_000);
});
