import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { FaultRule } from '../../../local/faults/index.js';
import { expectFailed, expectProcessed } from '../../support/app-expect.js';
import { submit } from '../../support/app-orders.js';
import { startApp } from '../../support/app-stack.js';
import type { App } from '../../support/app-stack.js';

const creates = [
  { operation: 'create', entity: 'orders', skip: 0 },
  { operation: 'create', entity: 'order-state', skip: 0 },
];
/** The claim, three dispatches, the end, and the emptied outbox. */
const replaces = Array.from({ length: 6 }, (_, skip) => ({ operation: 'replace', entity: 'order-state', skip }));
const writes: readonly Required<Pick<FaultRule, 'operation' | 'entity' | 'skip'>>[] = [...creates, ...replaces];

describe('a write to Cosmos DB whose answer is lost', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({ CLAIM_LEASE_MS: '1500' });
  });
  afterEach(() => app.stack.setFaults('cosmos-db'));
  afterAll(() => app.stop());

  const breakOnce = (rule: Omit<FaultRule, 'times'>): Promise<void> =>
    app.stack.setFaults('cosmos-db', { seed: 1, rules: [{ ...rule, times: 1 }] });
  const hits = async (): Promise<number> => {
    const counters = await app.stack.counters('cosmos-db');
    return Object.entries(counters).reduce((sum, [name, count]) => (name.includes('cut') ? sum + count : sum), 0);
  };

  it.each(writes)('is recognised: $operation of $entity after $skip others (C16, I2, T34)', async (write) => {
    const orderId = `done-${write.operation}-${write.entity}-${write.skip}`;
    const before = await hits();
    await breakOnce({ ...write, action: 'cutAfterCommit' });
    await submit(app, orderId);
    expect(await expectProcessed(app, orderId)).toMatchObject({ attempt: 1, failureCount: 0 });
    expect(await hits()).toBe(before + 1);
    expect(app.log.alerts(orderId)).toEqual([]);
  });

  it.each(writes)('is done again if it was not done: $operation of $entity after $skip others (T43)', async (write) => {
    const orderId = `undone-${write.operation}-${write.entity}-${write.skip}`;
    await breakOnce({ ...write, action: 'cutBeforeCommit' });
    await submit(app, orderId);
    expect(await expectProcessed(app, orderId)).toMatchObject({ attempt: 1, failureCount: 0 });
  });

  it('still raises the one alert when it is the write that gives an order up (C52)', async () => {
    app.remote.script({ orderId: 'given-up', service: 'payment', disturbance: { status: 400, code: 'Closed' } });
    await breakOnce({ operation: 'replace', entity: 'order-state', skip: 2, action: 'cutAfterCommit' });
    await submit(app, 'given-up');
    await expectFailed(app, 'given-up', { as: 'Error', reason: 'Failed' });
    expect(app.log.alerts('given-up')).toEqual(['order-needs-operator']);
  });
});
