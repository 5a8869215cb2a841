import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { StateRecord } from '../../functions/state/state-record.js';
import type { FaultRule } from '../../local/faults/index.js';
import { eventually } from '../support/app-eventually.js';
import { expectProcessed } from '../support/app-expect.js';
import { submit, untilRecord } from '../support/app-orders.js';
import { oldRecord, plant } from '../support/app-records.js';
import { startApp } from '../support/app-stack.js';
import type { App } from '../support/app-stack.js';

const never = '0 0 0 1 1 *';

describe('step 3: scheduling', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({ STARTER_SCHEDULE: never, SUPERVISOR_SCHEDULE: never, CLAIM_LEASE_MS: '60000' });
  });
  afterEach(() => app.stack.setFaults('functions-host'));
  afterAll(() => app.stop());

  const atStart = (rule: Pick<FaultRule, 'action' | 'error' | 'times'>): Promise<void> =>
    app.stack.setFaults('functions-host', { seed: 1, rules: [{ operation: 'startOrchestration', ...rule }] });

  it('starts an order at once when nothing stands against it', async () => {
    await submit(app, 'eager');
    const record = await expectProcessed(app, 'eager');
    expect(record.attempt).toBe(1);
  });

  it('claims an order with a deadline before its attempt is started (I5, T1)', async () => {
    await atStart({ action: 'pause' });
    await submit(app, 'claimed');
    const record = await untilRecord(app, 'claimed', ({ lockedBy }) => lockedBy !== null);
    expect(record).toMatchObject({ processState: 'Processing', lockedBy: 'claimed.1', attempt: 1 });
    expect(Date.parse(record.completeBy ?? '')).toBeGreaterThan(Date.parse(record.updatedAt));
    expect(await app.instance('claimed.1')).toBeUndefined();
    await app.stack.setFaults('functions-host');
    await expectProcessed(app, 'claimed');
  });

  it('releases an order whose start the runtime refused, and counts no failure (P3)', async () => {
    await atStart({ action: 'refuse', error: '500', times: 1 });
    await submit(app, 'refused-start');
    const isReleased = ({ processState, attempt }: StateRecord): boolean => processState === 'Pending' && attempt === 1;
    const released = await untilRecord(app, 'refused-start', isReleased);
    expect(released).toMatchObject({ lockedBy: null, failureCount: 0 });
    await untilStarted('refused-start');
    const record = await expectProcessed(app, 'refused-start');
    expect(record).toMatchObject({ attempt: 2, failureCount: 0 });
  });

  it('takes a start whose answer was lost for a start, once the runtime knows the attempt (T3, C22)', async () => {
    await atStart({ action: 'cutAfterCommit', times: 1 });
    await submit(app, 'lost-answer');
    const record = await expectProcessed(app, 'lost-answer');
    expect(record.attempt).toBe(1);
    await untilStarted();
    expect(await app.instance('lost-answer.2')).toBeUndefined();
  });

  it.each([
    ['is missing', { lockedBy: undefined }],
    ['is missing, and the count of failures too', { lockedBy: undefined, failureCount: undefined }],
    ['is null', {}],
  ])('starts a waiting order whose owner %s (C12)', async (name, fields) => {
    const orderId = `owner-${name}`.replaceAll(/\W/g, '-');
    await plant(app, orderId, { ...oldRecord(orderId), ...fields });
    await untilStarted(orderId);
    await expectProcessed(app, orderId);
  });

  it('leaves an order alone until it is due', async () => {
    const notBefore = new Date(Date.now() + 3_600_000).toISOString();
    await plant(app, 'not-due', oldRecord('not-due', { notBefore }));
    await plant(app, 'due', oldRecord('due'));
    await untilStarted('due');
    await expectProcessed(app, 'due');
    expect(await untilRecord(app, 'not-due', () => true)).toMatchObject({ processState: 'Pending', attempt: 0 });
  });

  /** Runs the starter by hand until it has claimed the order; without one, once. */
  async function untilStarted(orderId?: string): Promise<void> {
    if (orderId === undefined) {
      await app.invoke('starter');
      return;
    }
    await eventually(
      async () => {
        await app.invoke('starter');
        await untilRecord(app, orderId, ({ lockedBy }) => lockedBy !== null, { withinMs: 1_000 });
      },
      { everyMs: 200 },
    );
  }
});
