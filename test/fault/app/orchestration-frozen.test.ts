import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../support/app-eventually.js';
import { expectProcessed } from '../../support/app-expect.js';
import { showRecord, submit, untilRecord } from '../../support/app-orders.js';
import { startApp } from '../../support/app-stack.js';
import type { App } from '../../support/app-stack.js';

describe('an orchestration that freezes', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({ STEP_DEADLINE_MS: '2500', CLAIM_LEASE_MS: '1000' });
  });
  afterAll(() => app.stop());

  const freezeTurn = (skip: number): Promise<void> =>
    app.stack.setFaults('functions-host', {
      seed: 1,
      rules: [{ operation: 'turn', entity: 'orderOrchestrator', action: 'pause', skip, times: 1 }],
    });

  it.each([
    ['before its first step', 0],
    ['while it waits for its agent', 1],
    ['with the reply in its hand', 2],
  ])('%s is replaced, and changes nothing when it wakes (C77, T13, T40)', async (name, skip) => {
    const orderId = name.replaceAll(' ', '-');
    await freezeTurn(skip);
    await submit(app, orderId);
    const record = await expectProcessed(app, orderId);
    expect(record).toMatchObject({ attempt: 2, lockedBy: `${orderId}.2`, failureCount: 0 });

    await app.stack.setFaults('functions-host');
    await eventually(async () => {
      expect(['Completed', 'Terminated']).toContain((await app.instance(`${orderId}.1`))?.['runtimeStatus']);
    });
    expect(await showRecord(app, orderId)).toEqual(record);
    await expectProcessed(app, orderId);
  });

  it('is stopped by the fence when an operator has ended its order meanwhile (C23)', async () => {
    await freezeTurn(2);
    await submit(app, 'ended');
    await untilRecord(app, 'ended', ({ steps }) => steps[0]?.state === 'Running');
    const body = { reason: 'a test' };
    expect((await app.fetch('orders/ended/abandon', { method: 'POST', body })).status).toBe(200);
    const record = await showRecord(app, 'ended');
    await app.stack.setFaults('functions-host');
    await eventually(async () => {
      expect(await app.instance('ended.1')).toMatchObject({ runtimeStatus: 'Completed' });
    });
    expect((await showRecord(app, 'ended')).processState).toBe(record.processState);
    expect(app.remote.calls('ended').map(({ service }) => service)).toEqual(['payment']);
  });
});
