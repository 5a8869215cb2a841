import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectProcessed } from '../../support/app-expect.js';
import { submit, untilRecord } from '../../support/app-orders.js';
import { startApp } from '../../support/app-stack.js';
import type { App } from '../../support/app-stack.js';

describe('a starter that dies after the claim and before the start', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({ CLAIM_LEASE_MS: '2000' }, { lockDuration: 'PT5S' });
  });
  afterAll(() => app.stop());

  it('leaves an order that the supervisor finds; its next attempt has another id (T1, T2)', async () => {
    await app.stack.setFaults('functions-host', {
      seed: 1,
      rules: [{ operation: 'startOrchestration', action: 'pause' }],
    });
    await submit(app, 'claimed');
    await untilRecord(app, 'claimed', ({ lockedBy }) => lockedBy === 'claimed.1');
    await app.stack.kill('functions-host');
    await app.stack.setFaults('functions-host');
    await app.stack.restart('functions-host');

    const record = await expectProcessed(app, 'claimed');
    expect(record).toMatchObject({ attempt: 2, lockedBy: 'claimed.2', failureCount: 0 });
    expect(await app.instance('claimed.1')).toBeUndefined();
    expect(app.remote.calls('claimed').map(({ token }) => token)).toEqual([2, 2, 2]);
  });
});
