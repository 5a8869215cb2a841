import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectProcessed } from '../support/app-expect.js';
import { submit } from '../support/app-orders.js';
import { startApp } from '../support/app-stack.js';
import type { App } from '../support/app-stack.js';

describe('the connections of the app', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.stop());

  const openConnections = async (): Promise<number | undefined> =>
    (await app.stack.counters('service-bus'))['connections'];

  const process = async (orderIds: readonly string[]): Promise<void> => {
    await Promise.all(orderIds.map((orderId) => submit(app, orderId)));
    for (const orderId of orderIds) await expectProcessed(app, orderId);
  };

  it('are opened once a process, however many orders it works on (C100)', async () => {
    await process(['first']);
    const afterOne = await openConnections();
    await process(Array.from({ length: 20 }, (_, index) => `further-${index}`));
    expect(await openConnections()).toBe(afterOne);
    expect(afterOne).toBeGreaterThan(0);
  });
});
